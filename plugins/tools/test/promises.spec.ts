import type { RawTool, Tool, ToolResult } from '@tenon/tools'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { drained, echo, type Opened, openTools, raw } from './opened.ts'

let app: Opened
const unhandled: unknown[] = []
const note = (reason: unknown) => void unhandled.push(reason)
beforeEach(async () => {
  app = await openTools()
  unhandled.length = 0
  process.on('unhandledRejection', note)
})
afterEach(async () => {
  await drained()
  process.off('unhandledRejection', note)
  await app.kernel.close()
})

const told = (result: ToolResult) => (result.isError ? `${result.code}: ${result.message}` : 'ok')
/** What is not to be a promise, and is one all the same, as plugins without types can do. */
const late = (): never => Promise.reject(new Error('late')) as never

describe('a promise in place of an answer', () => {
  it.each<[string, string, Tool | RawTool]>([
    ['TL-25 of render', 'TOOL_OUTPUT: tool "odd" returned an invalid result', echo('odd', { render: late })],
    ['TL-25 of the render of a raw tool', 'TOOL_OUTPUT: tool "odd" returned an invalid result', raw('odd', undefined, { render: late })],
    [
      'TL-14 of validate',
      'TOOL_ARGUMENTS: invalid arguments: a promise was returned where an answer is expected at once',
      raw('odd', undefined, { validate: late }),
    ],
    [
      'TL-14 of a refusal',
      'TOOL_ARGUMENTS: invalid arguments: a promise was returned where an answer is expected at once',
      echo('odd', { refuses: { text: late } }),
    ],
  ])('%s is refused, and its rejection is nobody’s', async (_what, refusal, tool) => {
    app.tools.register(app.kernel.scope, tool as RawTool)
    expect(told(await app.call('odd', { text: 'x' }))).toBe(refusal)
    await drained()
    expect(unhandled).toEqual([])
  })

  it('TL-19 of a guard is refused, and its rejection is nobody’s', async () => {
    app.tools.register(app.kernel.scope, raw('raw'))
    app.tools.use(app.kernel.scope, { name: 'odd', guard: late })
    expect(told(await app.call('raw'))).toBe('TOOL_MIDDLEWARE: policy "odd" failed: guard must return a string or undefined, and at once')
    await drained()
    expect(unhandled).toEqual([])
  })

  it('TL-24 a listener of progress that rejects is logged, and harms nobody', async () => {
    const dead = (): unknown => Promise.reject(new Error('the line is dead'))
    const talker = raw('talker', async (_args, call) => {
      call.progress?.('one')
      return null
    })
    app.tools.register(app.kernel.scope, talker)
    expect(told(await app.call('talker', {}, { onProgress: dead }))).toBe('ok')
    await drained()
    expect([unhandled, app.complaints]).toEqual([[], ["the listener of a call's progress failed: the line is dead"]])
  })
})
