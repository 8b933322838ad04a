import { execFile } from 'node:child_process'
import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { rolldown } from 'rolldown'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { CycleName } from './leaks/cycles.ts'
import type { Remains } from './leaks/program.ts'

const CYCLES: Readonly<Record<CycleName, number>> = { 'load and unload': 10_000, 'replace code': 4_000, transactions: 4_000, 'fork flips': 4_000 }
/** Of all cycles together. No object takes fewer than 16 bytes: a leak of one in every fourth cycle of 10,000, or in each of 4,000, would be seen. */
const HEAP_BYTES = 40_000
/** What V8 compiles on the way lies in the heap as well, and would hide some 20 bytes a cycle. */
const UNCOMPILED = ['--no-opt', '--no-sparkplug']
/** Many times what it takes, for a machine that is busy otherwise. */
const TIMEOUT_MS = 240_000

const kernel = dirname(dirname(fileURLToPath(import.meta.url)))
let folder = ''

beforeAll(async () => {
  const cache = join(kernel, '.cache')
  await mkdir(cache, { recursive: true })
  folder = await mkdtemp(join(cache, 'leaks-'))
  const bundle = await rolldown({
    input: join(kernel, 'test/leaks/program.ts'),
    platform: 'node',
    // The sources, as in every other test; all else comes from where the kernel gets it.
    external: (id) => !/^[./]/.test(id) && !/^@(oxc-project|tenon)\//.test(id),
    resolve: { conditionNames: ['@tenon/source', 'import', 'node', 'default'] },
    tsconfig: join(kernel, '../../tsconfig.test.json'),
  })
  await bundle.write({ file: join(folder, 'program.mjs'), format: 'esm' })
  await bundle.close()
})
afterAll(() => rm(folder, { recursive: true, force: true }))

/** In a process of its own, whose heap nobody else uses. */
async function remainsOf(cycle: CycleName, count: number, ...plant: readonly string[]): Promise<Remains> {
  const args = ['--expose-gc', ...UNCOMPILED, join(folder, 'program.mjs'), cycle, String(count), ...plant]
  const { stdout } = await promisify(execFile)(process.execPath, args)
  return JSON.parse(stdout) as Remains
}

/** Bytes of heap that each cycle left behind: the last quarter of the samples against the first. */
function growth({ heap, cyclesPerSample }: Remains): number {
  const quarter = Math.floor(heap.length / 4)
  const [first, last] = [median(heap.slice(0, quarter)), median(heap.slice(-quarter))]
  return (last - first) / (cyclesPerSample * (heap.length - quarter))
}

function median(sample: readonly number[]): number {
  return [...sample].sort((a, b) => a - b)[Math.floor(sample.length / 2)] ?? Number.NaN
}

const expected: Readonly<Record<CycleName, readonly string[]>> = {
  'load and unload': [
    'class',
    'plugin',
    'activate',
    'scope',
    'activation',
    'constructed',
    'listener',
    'value',
    'kept',
    'dispose',
    'row',
    'container',
  ],
  'replace code': ['class', 'plugin', 'activate', 'scope', 'activation', 'constructed', 'listener', 'value', 'kept', 'dispose', 'container'],
  transactions: ['class', 'plugin', 'activate', 'scope', 'activation', 'constructed', 'listener', 'value', 'kept', 'dispose', 'container'],
  'fork flips': ['class', 'plugin', 'activate', 'scope', 'activation', 'constructed', 'listener', 'value', 'fork', 'container'],
}

/** The composition that stands before the first cycle, and what it holds until the end, is watched as well. */
const STANDING = 3

describe.concurrent('many cycles', () => {
  it.each(Object.entries(CYCLES) as [CycleName, number][])(
    'KN-35 %s %i times: the heap is flat, what was replaced is collected, no listener, timer or container is left',
    async (cycle, count) => {
      const remains = await remainsOf(cycle, count)
      expect(growth(remains)).toBeLessThan(HEAP_BYTES / count)
      expect(Object.keys(remains.witnesses).sort()).toEqual([...(expected[cycle] ?? [])].sort())
      for (const [kind, { seen, alive }] of Object.entries(remains.witnesses)) {
        expect(seen, kind).toBeGreaterThan(50)
        expect(alive, kind).toBeLessThanOrEqual(STANDING)
      }
      expect(remains).toMatchObject({ listeners: 0, timers: 0, resources: [] })
    },
    TIMEOUT_MS,
  )

  it(
    'KN-35 a leak of one small object a cycle would be seen',
    async () => {
      expect(growth(await remainsOf('load and unload', 1_000, 'object'))).toBeGreaterThan((2 * HEAP_BYTES) / CYCLES['fork flips'])
    },
    TIMEOUT_MS,
  )
})
