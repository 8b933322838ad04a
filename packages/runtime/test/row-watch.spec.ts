import { expect, it } from 'vitest'
import type { RuntimeOptions } from '../src/index.ts'
import { noting, open } from './journal.ts'

type Logger = NonNullable<RuntimeOptions['logger']>

/** A logger that keeps its warnings, with the row they are about. */
function warnings(): { readonly logger: Logger; readonly told: readonly string[]; until(count: number): Promise<void> } {
  const told: string[] = []
  let arrived = (): void => undefined
  const nothing = (): void => undefined
  const logger = { level: 'warn', trace: nothing, debug: nothing, info: nothing, error: nothing, fatal: nothing, child: () => logger } as object
  Object.assign(logger, {
    warn(_: object, text: string) {
      told.push(text)
      arrived()
    },
  })
  const until = async (count: number): Promise<void> => {
    while (told.length < count) {
      await new Promise<void>((resolve) => {
        arrived = resolve
      })
    }
  }
  return { logger: logger as Logger, told, until }
}

const catalog = (rows: string): string => `plugins:\n  journal: journal\n${rows}`
/** Activates once somebody has said so. */
const HELD = 'await (globalThis as any).tenonTestGate'

function gate(): () => void {
  let open = (): void => undefined
  const tenonTestGate = new Promise<void>((resolve) => {
    open = resolve
  })
  Object.assign(globalThis, { tenonTestGate })
  return open
}

it('a row that takes long to activate is told while it does, at boot and in an edit', async () => {
  const { logger, told, until } = warnings()
  let release = gate()
  const files = { 'top.yaml': catalog('  slow: { use: ./slow.ts, with: { n: 1 } }\n'), 'slow.ts': noting('slow', { body: HELD }) }
  const opening = open(files, { logger, slowRowMs: 20 })
  await until(1)
  expect(told).toEqual([expect.stringMatching(/^row "slow" is still activating, after \d+(\.\d+)? s$/)])
  release()
  const { runtime } = await opening

  release = gate()
  const editing = runtime.apply({ set: { 'slow.n': 2 } })
  await until(2)
  expect(told[1]).toMatch(/^row "slow" is still activating/)
  release()
  expect(await editing).toMatchObject({ reconfigured: ['slow'] })
  expect(told).toHaveLength(2)
})

const MUTE = `import { capability, definePlugin } from '@tenon/kernel'
const Thing = capability<object>('thing')
export default definePlugin({ name: 'mute', provides: [Thing], activate() {} })
`
const LATER = MUTE.replace('activate() {}', "activate(scope) { scope.inject([capability<object>('nobody')], (fork) => fork.provide(Thing, {})) }")

it('a row that provides what it never offers is warned of, at boot and in an edit, and one whose fork may still offer it is not', async () => {
  const { logger, told } = warnings()
  const warning =
    'row "mute" provides "thing" but never offers it: plugin "mute" should call scope.provide before `activate` returns, or take it out of `provides`'
  const { dir, runtime } = await open({ 'top.yaml': catalog('  mute: ./mute.ts\n'), 'mute.ts': MUTE }, { logger })
  expect(told).toEqual([warning])
  await dir.write('mute.ts', LATER)
  await runtime.reload('mute')
  expect(told).toEqual([warning])
  await dir.write('mute.ts', `${MUTE}// again\n`)
  await runtime.reload('mute')
  expect(told).toEqual([warning, warning])
})

it('what is about to boot is told once it is known to fit together', async () => {
  const booting: string[] = []
  await open({ 'top.yaml': catalog('  a: ./a.ts\n'), 'a.ts': noting('a') }, { checked: ({ rows }) => booting.push(...rows.map(({ id }) => id)) })
  expect(booting).toEqual(['a', 'journal'])
})
