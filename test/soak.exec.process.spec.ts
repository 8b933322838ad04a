import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, mkdtempSync, openSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { CollectedText, ShellExecution, ShellResult } from '@tenon/shell'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type Cause, type Ending, judge } from './soak/exec/judge.ts'
import { holdings, leftBeyond } from './soak/exec/leaks.ts'
import { sceneOf } from './soak/exec/scenes.ts'
import { counted, text, yes } from './soak/exec/streams.ts'

let folder = ''
beforeEach(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), 'soak-spec-')))
})
afterEach(() => rmSync(folder, { recursive: true }))

describe('the oracle of the soak of commands', () => {
  it.each([1, 9, 10, 11, 99, 100, 101, 12_345])('knows what seq 1 %i writes', (upTo) => {
    const { bytes, slice } = counted(upTo)
    const whole = Array.from({ length: upTo }, (_, index) => `${index + 1}\n`).join('')
    expect([bytes, slice(0, bytes).toString()]).toEqual([whole.length, whole])
  })

  it('knows a flood at any offset', () => {
    expect([yes().slice(3, 6).toString(), yes().slice(4, 7).toString()]).toEqual(['\ny\n', 'y\ny'])
  })

  it('makes the same commands of the same seed, and others of another', () => {
    const first = (seed: number): string[] => Array.from({ length: 50 }, (_, index) => sceneOf(seed, index).what)
    expect(first(1)).toEqual(first(1))
    expect(first(1)).not.toEqual(first(2))
  })

  const none: CollectedText = { text: '', bytes: 0, truncated: false }
  const right: ShellResult = {
    exitCode: 3,
    signal: null,
    timedOut: false,
    aborted: false,
    timeoutMs: 50,
    durationMs: 60,
    stdout: { text: 'up', bytes: 2, truncated: false },
    stderr: none,
  }
  const ending: Ending = { exitCode: 3, signal: null, stdout: text('up'), stderr: text('') }
  const judged = (
    told: Partial<ShellResult>,
    more: { cause?: Cause; status?: ShellExecution['status']; endings?: Ending[]; kill?: boolean } = {},
  ) => {
    const result = { ...right, ...told }
    const { exitCode, signal } = result
    const handle = { status: more.status ?? 'completed', exitCode, signal, kill: () => more.kill ?? false, result: async () => result }
    return judge(handle as unknown as ShellExecution, result, more.cause ?? 'nothing', more.endings ?? [ending])
  }

  it('has nothing to say of what is right', async () => {
    expect(await judged({})).toEqual([])
    const stopped: Ending = { exitCode: null, signal: 'SIGTERM', stdout: yes(), isCut: true }
    const told = { exitCode: null, signal: 'SIGTERM', timedOut: true, stdout: { text: 'y\ny', bytes: 3, truncated: false } } as const
    expect(await judged(told, { cause: 'deadline', status: 'killed', endings: [ending, stopped] })).toEqual([])
  })

  it.each<[string, Parameters<typeof judged>]>([
    ['another exit code', [{ exitCode: 4 }]],
    ['a signal', [{ exitCode: null, signal: 'SIGTERM' }, { status: 'killed' }]],
    ['a flag too many', [{ aborted: true }]],
    ['a flag too few', [{}, { cause: 'deadline', status: 'killed' }]],
    ['another status', [{}, { status: 'killed' }]],
    ['a kill after the end', [{}, { kill: true }]],
    [
      'a deadline that came early',
      [
        { timedOut: true, durationMs: 20 },
        { cause: 'deadline', status: 'killed' },
      ],
    ],
    ['a byte too few', [{ stdout: { text: 'u', bytes: 1, truncated: false } }]],
    ['another text', [{ stdout: { text: 'uq', bytes: 2, truncated: false } }]],
    ['text on the other stream', [{ stderr: { text: 'x', bytes: 1, truncated: false } }]],
    ['a stream that was cut short without reason', [{ stdout: { ...right.stdout, truncated: true } }]],
    ['a file that is not needed', [{ stdout: { ...right.stdout, spillPath: '/dev/null' } }]],
    ['a stream that could not be read', [{ stdout: { ...right.stdout, error: 'EIO' } }]],
  ])('sees %s', async (_, [told, more]) => {
    expect(await judged(told, more)).not.toEqual([])
  })

  it('sees what is wrong with the file of a stream that overflowed', async () => {
    const stream = counted(20_000)
    const content = stream.slice(0, stream.bytes)
    const [whole, changed, short] = ['whole', 'changed', 'short'].map((name) => join(folder, name)) as [string, string, string]
    writeFileSync(whole, content)
    writeFileSync(changed, content.toString().replace('9999', '9998'))
    writeFileSync(short, content.subarray(1))
    const overflowed = { text: content.subarray(-64_000).toString(), bytes: stream.bytes, truncated: true }
    const of = (spillPath?: string) =>
      judged({ stdout: { ...overflowed, ...(spillPath !== undefined && { spillPath }) } }, { endings: [{ ...ending, stdout: stream }] })
    expect(await of(whole)).toEqual([])
    for (const path of [changed, short, join(folder, 'missing'), undefined]) expect(await of(path)).not.toEqual([])
  })
})

it('the soak of commands sees what is not given back: processes, descriptors, files, timers, listeners', async () => {
  // Any process will do for the launcher.
  const place = { folder, session: new AbortController(), launcher: process.pid }
  const before = holdings(place, undefined)
  const child = spawn('sleep', ['60'], { stdio: 'ignore' })
  await once(child, 'spawn')
  const file = join(folder, 'left')
  const descriptor = openSync(file, 'w')
  const timer = setTimeout(() => undefined, 60_000)
  const listener = (): void => undefined
  process.on('SIGUSR2', listener)
  place.session.signal.addEventListener('abort', listener)
  try {
    const left = await leftBeyond(before, place, undefined, 0)
    for (const what of [
      'process ',
      `descriptor of ${file}`,
      'descriptor of the launcher',
      'file left',
      'resource Timeout',
      'SIGUSR2',
      'session signal',
    ]) {
      expect(left.filter((line) => line.includes(what))).not.toEqual([])
    }
  } finally {
    place.session.signal.removeEventListener('abort', listener)
    process.off('SIGUSR2', listener)
    clearTimeout(timer)
    closeSync(descriptor)
    rmSync(file)
    child.kill('SIGKILL')
    await once(child, 'exit')
  }
  expect(await leftBeyond(before, place, undefined)).toEqual([])
})
