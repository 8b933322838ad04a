import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { isAlive } from './alive.ts'
import { killMarked, marked } from './marked.ts'
import { type HostRun, startProgram } from './run-host.ts'

function ownTemp(): string {
  const directory = mkdtempSync(join(tmpdir(), 'leaving-test-'))
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }))
  return directory
}

async function play(scenario: string, wrapper: readonly string[] = [], env: NodeJS.ProcessEnv = {}): Promise<HostRun & { temp: string }> {
  const temp = ownTemp()
  const run = await startProgram('leaving', [scenario], wrapper, { TMPDIR: temp, ...env }).ended
  return { ...run, temp }
}

/** On a loaded machine one run of a few is quick enough; one that waits for something never is. */
async function quickest(scenario: string, withinMs: number): Promise<{ lateMs: number; runs: (HostRun & { temp: string })[] }> {
  const runs = []
  let lateMs = Number.POSITIVE_INFINITY
  for (let attempt = 0; attempt < 4 && lateMs >= withinMs; attempt++) {
    const run = await play(scenario)
    runs.push(run)
    lateMs = Math.min(lateMs, run.endedAt - Number(run.facts[0]?.at))
  }
  return { lateMs, runs }
}

async function expectNothingLeft({ temp, facts }: HostRun & { temp: string }): Promise<void> {
  const launcher = Number(facts[0]?.parent ?? 0)
  await expect.poll(() => [isAlive(launcher), readdirSync(temp)]).toEqual([false, []])
}

describe('the launcher and the end of its host', () => {
  it.each(['close', 'early'])('LN-11 (%s) the host exits within 100 ms, and nothing of the launcher stays behind', async (scenario) => {
    const { lateMs, runs } = await quickest(scenario, 100)
    expect(lateMs).toBeLessThan(100)
    for (const run of runs) {
      expect([run.exitCode, run.stderr]).toEqual([0, ''])
      await expectNothingLeft(run)
    }
  })

  it('LN-11 a host that has nothing to do any more leaves without closing, and takes everything along', async () => {
    const { lateMs, runs } = await quickest('idle', 300)
    expect(lateMs).toBeLessThan(300)
    for (const run of runs) await expectNothingLeft(run)
  })

  it('LN-11 a command that runs keeps the host alive until its end is told, and no longer', async () => {
    const run = await play('waiting')
    expect(run.facts[0]).toMatchObject({ facts: { exitCode: 6, signal: null } })
    await expectNothingLeft(run)
  })

  it('LN-11 process.exit in the middle of 100 starts keeps the exit code and leaves nothing', async () => {
    const run = await play('midst')
    expect([run.exitCode, run.stderr]).toEqual([3, ''])
    const { nonce } = run.facts[0] as { nonce: string }
    await expect.poll(() => marked(nonce)).toEqual([])
    await expectNothingLeft(run)
    expect(await marked(nonce)).toEqual([])
  })

  it('LN-06 50 rounds of open and close, and of load and unload, leave no process, no directory, no descriptor and no listener', async () => {
    const run = await play('rounds')
    expect([run.exitCode, run.stderr]).toEqual([0, ''])
    const { parents, listeners, descriptors } = run.facts[0] as { parents: number[]; listeners: number; descriptors: number }
    expect(new Set(parents).size).toBe(25)
    expect(listeners).toBe(0)
    expect(descriptors).toBeLessThan(40)
    await expect.poll(() => [parents.filter(isAlive), readdirSync(run.temp)]).toEqual([[], []])
  })

  it('LN-06 many runtimes in one process have a launcher each, and mix nothing', async () => {
    const run = await play('many')
    const { parents, texts } = run.facts[0] as { parents: number[]; texts: string[] }
    expect([run.exitCode, run.stderr]).toEqual([0, ''])
    expect(new Set(parents).size).toBe(8)
    expect(texts).toEqual(parents.map((_, index) => `${index}\n`))
    await expect.poll(() => [parents.filter(isAlive), readdirSync(run.temp)]).toEqual([[], []])
  })

  it('LN-11 a host without standard streams works, and leaves', async () => {
    const temp = ownTemp()
    const run = await startProgram('leaving', ['close'], ['sh', '-c', '"$@" <&- 2>&-', 'sh'], { TMPDIR: temp }).ended
    expect(run.exitCode).toBe(0)
    await expectNothingLeft({ ...run, temp })
  })
})

it('LN-05 a host without a descriptor left when the launcher comes goes on, and so do its commands', async () => {
  const run = await play('crowded', ['sh', '-c', 'ulimit -n 256; exec "$@"', 'sh'])
  expect([run.exitCode, run.facts[0]]).toEqual([0, { facts: { exitCode: 0, signal: null }, texts: ['up\nafter all\n', 'works\n'] }])
  await expect.poll(() => readdirSync(run.temp)).toEqual([])
})

it('LN-02 a host that is killed before its launcher has greeted leaves nothing of what it has started itself', async () => {
  const run = await play('infancy')
  const { nonce } = run.facts[0] as { nonce: string }
  onTestFinished(() => killMarked(nonce))
  expect(run.signal).toBe('SIGKILL')
  await expect.poll(() => marked(nonce)).toEqual([])
  await expect.poll(() => readdirSync(run.temp)).toEqual([])
})

it('LN-02 a runtime in a thread that is ended from outside leaves nothing, though the process goes on', async () => {
  const run = await play('thread')
  const { nonce, parent } = run.facts[0] as { nonce: string; parent: number }
  onTestFinished(() => killMarked(nonce))
  await expect.poll(() => marked(nonce)).toEqual([])
  await expect.poll(() => [isAlive(parent), readdirSync(run.temp)]).toEqual([false, []])
})

it.runIf(process.getuid?.() === 0)('LN-08 a host that gives up its privileges later has none to give: its commands run as who it is', async () => {
  const run = await play('dropped')
  expect(run.facts[0]).toEqual({ ids: '65534\n65534\n' })
})

it('LN-08 a descriptor that the host has inherited reaches no command', async () => {
  const run = await play('descriptors', ['sh', '-c', 'exec 8</etc/passwd 9</etc/group; exec "$@"', 'sh'])
  // `ls` has one for what it lists.
  expect(run.facts[0]).toEqual({ host: ['/etc/passwd', '/etc/group'], command: '0\n1\n2\n3\n' })
})

describe('the limit of descriptors', () => {
  const hard = /^Max open files +\d+ +(\d+)/m.exec(readFileSync('/proc/self/limits', 'utf8'))?.[1]

  it('LN-12 commands have the limit that the host was started with, not the one that Node raised', async () => {
    const run = await play('limit', ['sh', '-c', 'ulimit -Sn 256; "$@"; exit $?', 'sh'])
    expect([run.exitCode, run.stderr, run.facts[0]?.command]).toEqual([0, '', `256 ${hard}`])
  })

  it('LN-12 where a hard limit was lowered both limits arrive', async () => {
    const run = await play('limit', ['sh', '-c', 'ulimit -Sn 300; ulimit -Hn 4000; "$@"; exit $?', 'sh'])
    expect([run.exitCode, run.stderr, run.facts[0]?.command]).toEqual([0, '', '300 4000'])
  })

  it('LN-12 where nothing is known of it, commands have the limit of the host', async () => {
    // The parent has the same hard limit, and no lower soft one.
    const run = await play('limit', ['sh', '-c', 'ulimit -n 4000; "$@"; exit $?', 'sh'])
    expect(run.facts[0]?.command).toBe('4000 4000')
  })
})
