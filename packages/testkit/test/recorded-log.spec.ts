import { definePlugin } from '@tenon/kernel'
import { harness, recordedLog } from '@tenon/testkit'
import { describe, expect, it } from 'vitest'

describe('a recorded log', () => {
  it('notes what a plugin logs: level, message, and the fields of the row beside its own', async () => {
    const { logger, lines } = recordedLog()
    const talkative = definePlugin({
      name: 'talkative',
      activate({ log }) {
        log.info('ready')
        log.child({ part: 'door' }).warn({ angle: 90 }, 'stands open')
      },
    })
    await using _app = await harness([talkative], { logger })
    const own = lines.filter(({ fields }) => fields.row === 'talkative')
    expect(own.map(({ level, message }) => [level, message])).toEqual([
      ['info', 'ready'],
      ['warn', 'stands open'],
    ])
    expect(own[1]?.fields).toMatchObject({ row: 'talkative', part: 'door', angle: 90 })
    expect(own[0]?.fields).not.toHaveProperty('part')
  })

  it('takes every level and every shape of message that a logger takes', () => {
    const { logger, lines } = recordedLog()
    const error = new Error('no battery')
    for (const level of ['trace', 'debug', 'info', 'warn', 'error', 'fatal'] as const) logger[level]('said')
    logger.error(error)
    logger.error(error, 'it stopped')
    logger.error({ err: error }, 'so did this')
    logger.warn({ only: 'fields' })
    logger.silent('nobody hears it')
    expect(lines.slice(0, 6).map(({ level }) => level)).toEqual(['trace', 'debug', 'info', 'warn', 'error', 'fatal'])
    expect(lines.slice(6)).toEqual([
      { level: 'error', message: 'no battery', fields: { err: error } },
      { level: 'error', message: 'it stopped', fields: { err: error } },
      { level: 'error', message: 'so did this', fields: { err: error } },
      { level: 'warn', message: '', fields: { only: 'fields' } },
    ])
  })

  it('keeps the lines of one log apart from those of another', () => {
    const [one, other] = [recordedLog(), recordedLog()]
    one.logger.info('mine')
    expect([one.lines.length, other.lines.length]).toEqual([1, 0])
  })
})
