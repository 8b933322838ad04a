import { text } from 'node:stream/consumers'
import type { SpawnSpec } from '@tenon/subprocess'
import { ScriptedSubprocess } from '@tenon/testkit'
import { describe, expect, it } from 'vitest'

const spec = (program: string, rest: Partial<SpawnSpec> = {}): SpawnSpec => ({
  argv: [program, '-x'],
  cwd: process.cwd(),
  stdin: 'ignore',
  stdout: { maxBytes: 1024 },
  stderr: { maxBytes: 1024 },
  graceMs: 10,
  ...rest,
})

describe('a scripted subprocess provider', () => {
  it('ends processes as they are scripted, and collects what they wrote', async () => {
    const subprocess = new ScriptedSubprocess()
    subprocess.script('git -x', { stdout: 'clean\n', exitCode: 1 })
    const handle = subprocess.spawn(spec('git'))
    expect(await handle.done).toEqual({ exitCode: 1, signal: null })
    expect([handle.output.stdout?.readFrom(0).text, handle.output.stdout?.finished, await handle.waitForExit()]).toEqual(['clean\n', true, true])
    expect(subprocess.processes).toEqual([handle])
  })

  it('keeps a process running until the test, `terminate` or its signal ends it', async () => {
    const subprocess = new ScriptedSubprocess()
    subprocess.script(/./, 'runs')
    const abort = new AbortController()
    const piped = subprocess.spawn(spec('a', { stdin: 'pipe', stdout: 'pipe' }))
    const stopped = subprocess.spawn(spec('b'))
    const aborted = subprocess.spawn(spec('c', { signal: abort.signal }))
    expect(await subprocess.next()).toBe(piped)
    expect(await stopped.waitForExit(AbortSignal.abort())).toBe(false)
    piped.write('stdout', 'hello')
    piped.end()
    expect(piped.stdout && (await text(piped.stdout))).toBe('hello')
    stopped.terminate()
    abort.abort()
    expect([await piped.done, await stopped.done, await aborted.done]).toEqual([
      { exitCode: 0, signal: null },
      { exitCode: null, signal: 'SIGTERM' },
      { exitCode: null, signal: 'SIGTERM' },
    ])
  })

  it('starts nothing that cannot start, was aborted, is malformed, or that the test did not foresee', async () => {
    const subprocess = new ScriptedSubprocess()
    subprocess.script(/^broken/, 'fails')
    subprocess.script(/^fine/, {})
    const broken = subprocess.spawn(spec('broken'))
    expect([broken.pid, await broken.waitForExit()]).toEqual([undefined, true])
    await expect(broken.done).rejects.toMatchObject({ code: 'SPAWN_FAILED' })
    await expect(subprocess.spawn(spec('fine', { signal: AbortSignal.abort() })).done).rejects.toMatchObject({ code: 'ABORTED_BEFORE_SPAWN' })
    expect(() => subprocess.spawn(spec('fine', { graceMs: 0 }))).toThrow(expect.objectContaining({ code: 'SPEC_INVALID' }))
    expect(() => subprocess.spawn(spec('surprise'))).toThrow('nothing is scripted for "surprise -x"')
  })

  it('finds the executables it was told of', async () => {
    const subprocess = new ScriptedSubprocess()
    subprocess.executables.set('git', '/usr/bin/git')
    expect(await subprocess.resolveExecutable('git')).toBe('/usr/bin/git')
    await expect(subprocess.resolveExecutable('hg')).rejects.toMatchObject({ code: 'EXECUTABLE_NOT_FOUND' })
  })
})
