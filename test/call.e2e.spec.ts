import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'

interface Ran {
  readonly status: number
  readonly stdout: string
  readonly stderr: string
}

const program = fileURLToPath(new URL('../packages/cli/bin/tenon.js', import.meta.url))

function call(args: object, ...flags: readonly string[]): Promise<Ran> {
  return new Promise((resolve) => {
    const argv = [program, 'call', ...flags, 'bash', JSON.stringify({ description: 'x', ...args })]
    const child = execFile(process.execPath, argv, (_, stdout, stderr) => resolve({ status: child.exitCode ?? -1, stdout, stderr }))
  })
}

it.skipIf(process.platform === 'win32')('CP-13 `call` follows a job that the tool left running to its end', async () => {
  const [background, promoted, json] = await Promise.all([
    call({ command: 'sleep 1; echo late', run_in_background: true }),
    call({ command: 'echo early; sleep 2; echo late; exit 3', timeoutMs: 1_000 }),
    call({ command: 'sleep 1; echo late', run_in_background: true }, '--json'),
  ])
  expect(background.stdout).toMatch(/^started background job bash-1\nlate\n\[bash-1: completed, exit code: 0\]\n$/)
  expect([background.status, background.stderr]).toEqual([0, 'following bash-1 to its end; Ctrl-C stops it\n'])
  expect(promoted.stdout).toMatch(/moved to background job bash-1\][\s\S]*\nlate\n\[bash-1: completed, exit code: 3\]\n$/)
  // Each line once, whichever side of the bound it came on.
  expect(promoted.stdout.match(/early|late/g)).toEqual(['early', 'late'])
  expect(promoted.status).toBe(1)
  expect(JSON.parse(json.stdout)).toEqual({ kind: 'background', jobId: 'bash-1' })
  expect(json.stderr).toMatch(/late\n\[bash-1: completed, exit code: 0\]\n$/)
})

it.skipIf(process.platform === 'win32')('CP-13 `call` ends with 1 when its command failed or was killed', async () => {
  const commands = ['exit 3', 'kill -9 $$', 'true']
  expect((await Promise.all(commands.map((command) => call({ command })))).map(({ status }) => status)).toEqual([1, 1, 0])
})

it.skipIf(process.platform === 'win32')('CP-13 `call` says that a file of complete output is removed with it', async () => {
  const { stdout, stderr, status } = await call({ command: 'seq 1 100000' })
  const [, file = 'none'] = /full output: (\S+)\]/.exec(stdout) ?? []
  expect([status, stderr]).toEqual([0, `${file} is removed now: redirect the output to a file of your own to keep it\n`])
})
