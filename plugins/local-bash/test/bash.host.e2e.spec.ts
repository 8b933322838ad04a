import { execFile } from 'node:child_process'
import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { describe, expect, it, onTestFinished } from 'vitest'

const PROGRAM = fileURLToPath(new URL('programs/host.mjs', import.meta.url))
const isRoot = process.getuid?.() === 0

interface Ended {
  readonly stdout: string
  readonly stderr: string
  readonly code?: number
}

/** What a host of its own tells; `before` is put in front of `node`, `flags` behind it. */
async function play(scenario: readonly string[], { before = [], flags = [] }: { before?: string[]; flags?: string[] } = {}) {
  const temporary = mkdtempSync(join(tmpdir(), 'tenon-bash-host-'))
  onTestFinished(() => rmSync(temporary, { recursive: true, force: true }))
  const [command = '', ...args] = [...before, process.execPath, ...flags, PROGRAM, ...scenario]
  const running = promisify(execFile)(command, args, { env: { ...process.env, TMPDIR: temporary }, timeout: 110_000 })
  const { stdout, stderr, code = 0 }: Ended = await running.catch((error: Ended) => error)
  return { facts: JSON.parse(stdout) as Record<string, unknown>, stderr, code, temporary }
}

describe('a host of little memory', () => {
  it.each([
    ['B046', '2 GB in lines', 'yes 0123456789 | head -c 2000000000', 2_000_000_000, '0123456789\n012345678'],
    ['B047', '700 MB without a newline', `head -c 700000000 /dev/zero | tr '\\0' x`, 700_000_000, 'x'.repeat(20)],
  ])('SH-21 %s outlives a command that writes %s, and keeps its exact tail', async (_case, _what, command, bytes, tail) => {
    const { facts, temporary } = await play(['flood', command], { flags: ['--max-old-space-size=128'] })
    expect(facts).toMatchObject({ exitCode: 0, timedOut: false, tail, length: 64_000, stdout: { bytes, truncated: true } })
    expect(Number(facts.grown)).toBeLessThan(64 * 1_024 ** 2)
    expect(readdirSync(temporary)).toEqual([])
  })
})

describe.runIf(process.platform !== 'win32')('a temporary directory', () => {
  it('SP-35 SH-27 with a relative name is that of the host when its rows began, for commands everywhere', async () => {
    const { facts, stderr, temporary } = await play(['relative'], { before: ['sh', '-c', 'cd "$TMPDIR"; mkdir t; export TMPDIR=t; exec "$@"', 'sh'] })
    expect([facts, stderr]).toEqual([{ there: ['short\n', 'long\n'], elsewhere: ['short\n', 'long\n'] }, ''])
    expect(readdirSync(temporary, { recursive: true })).toEqual(['t'])
  })

  it.each(['0022', '0277', '0477', '0777'])('SP-35 SH-27 holds what its user can use, and nobody else, whatever the umask (%s)', async (mask) => {
    const { facts, stderr, temporary } = await play(['masked', mask])
    expect([facts, stderr]).toEqual([{ texts: ['short\n', 'long\n', 'data'], spilled: 3_893, modes: [0o600, 0o700] }, ''])
    expect(readdirSync(temporary)).toEqual([])
  })

  it.each([
    ['exit', 3],
    ['throw', 1],
  ])('SH-27 SP-50 keeps no script when the host ends in the middle of a command (%s)', async (how, code) => {
    const ended = await play(['ends', how])
    expect([ended.code, ended.facts, ended.stderr.includes('the diagnostic')]).toEqual([code, { scripts: 1 }, how === 'throw'])
    await expect.poll(() => readdirSync(ended.temporary)).toEqual([])
  })
})

describe('a temporary directory that fails', () => {
  it.runIf(isRoot)('SH-21 B175 B044 made unwritable after the first command: the output is there, its loss is told, the host lives', async () => {
    const { facts, stderr } = await play(['unwritable'])
    expect(facts).toEqual({
      first: true,
      second: { exitCode: 3, bytes: 3_893, path: null },
      rendered: expect.stringMatching(/1000\n\[output truncated; full output: \(unavailable\)\]\n\[exit code: 3\]$/),
      long: 'ran\n',
      third: 'third\n',
    })
    expect(stderr.trim().split('\n')).toHaveLength(1)
  })

  it.runIf(process.platform === 'linux')(
    'SH-15 a script that could be written in part only is no script: nothing runs and nothing of it stays',
    async () => {
      const { facts } = await play(['limited'], { before: ['bash', '-c', 'ulimit -f 100; exec "$@"', 'bash'] })
      expect(facts).toEqual({
        status: 'killed',
        code: ['SHELL_SPAWN', 'EFBIG'],
        left: [],
        exitCode: 3,
        bytes: 588_895,
        tail: '100000\n',
        path: null,
      })
    },
  )
})
