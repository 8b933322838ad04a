import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { expect, it } from 'vitest'
import { noting, open } from './journal.ts'

setFlagsFromString('--expose-gc')
const collect = runInNewContext('gc') as () => void

async function heap(): Promise<number> {
  // Finalizers and what they free run between turns of the event loop.
  for (let round = 0; round < 4; round++) {
    collect()
    await new Promise((resolve) => setImmediate(resolve))
  }
  return process.memoryUsage().heapUsed
}

it('CP-11 1,000 reloads of a plugin of 10 KB: the heap grows by less than 2 KB a reload', async () => {
  const filler = Array.from(
    { length: 150 },
    (_, index) => `export const text${index} = 'some text of a plugin that is ten kilobytes long ${index}'`,
  ).join('\n')
  const source = (version: number): string => noting('big', { version: String(version), body: 'journal.length = 0' }) + filler
  const { dir, runtime } = await open({ 'top.yaml': 'plugins:\n  journal: journal\n  big: ./big.ts\n', 'big.ts': source(0) })
  const reload = async (from: number, to: number): Promise<void> => {
    for (let version = from; version < to; version++) {
      await dir.write('big.ts', source(version))
      expect((await runtime.reload('big')).replaced).toEqual(['big'])
    }
  }
  await reload(1, 100)
  const before = await heap()
  const started = performance.now()
  await reload(100, 1_100)
  const ms = (performance.now() - started) / 1_000
  const bytes = ((await heap()) - before) / 1_000
  process.stdout.write(`a reload took ${ms.toFixed(1)} ms and kept ${bytes.toFixed(0)} bytes of heap\n`)
  expect(bytes).toBeLessThan(2_048)
})
