import { existsSync, readFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { type IPty, spawn } from '@lydell/node-pty'
import { expect, it, onTestFinished } from 'vitest'

const executable = fileURLToPath(new URL('../packages/cli/bin/tenon.js', import.meta.url))
const catalog = fileURLToPath(new URL('../catalog/default.yaml', import.meta.url))

interface Console {
  readonly pty: IPty
  readonly cwd: string
  /** Resolves once the pattern matches what was shown after what was seen before. */
  sees(pattern: RegExp): Promise<void>
  /** Everything the terminal got. */
  raw(): string
  readonly exitCode: Promise<number>
}

/** The program on a real terminal. */
async function open(): Promise<Console> {
  const cwd = await mkdtemp(path.join(tmpdir(), 'tenon-console-'))
  const env = { PATH: process.env.PATH ?? '', HOME: cwd, TERM: 'xterm-256color', NO_COLOR: '1' }
  const pty = spawn(process.execPath, [executable, 'run', catalog], { cwd, env, cols: 120, rows: 40 })
  let text = ''
  let seen = 0
  const looks = new Set<() => void>()
  pty.onData((data) => {
    text += data
    for (const look of looks) look()
  })
  let exited = false
  const exitCode = new Promise<number>((resolve) => {
    pty.onExit((event) => {
      exited = true
      resolve(event.exitCode)
    })
  })
  onTestFinished(async () => {
    if (!exited) pty.kill('SIGKILL')
    await exitCode
    await rm(cwd, { recursive: true, force: true })
  })
  const sees = (pattern: RegExp): Promise<void> =>
    new Promise((resolve) => {
      const look = (): void => {
        const match = pattern.exec(text.slice(seen))
        if (match === null) return
        seen += match.index + match[0].length
        looks.delete(look)
        resolve()
      }
      looks.add(look)
      look()
    })
  return { pty, cwd, sees, raw: () => text, exitCode }
}

it('CP-13 on a real terminal: a prompt, a command, its output, and the end', async () => {
  const { pty, sees, exitCode } = await open()
  await sees(/tenon> /)
  pty.write('! echo $((40 + 2)); exit 3\r')
  await sees(/\r\n42\r\n/)
  await sees(/\[exit code: 3\]\r\n/)
  await sees(/tenon> /)
  pty.write('quit\r')
  expect(await exitCode).toBe(3)
})

it('CP-13 Ctrl-C ends the running command and its tree, not the console', async () => {
  const { pty, cwd, sees } = await open()
  await sees(/tenon> /)
  pty.write('! echo $$ > pid; sleep 300\r')
  const pid = (): string => (existsSync(path.join(cwd, 'pid')) ? readFileSync(path.join(cwd, 'pid'), 'utf8').trim() : '')
  await expect.poll(pid).not.toBe('')
  pty.write('\u0003')
  await sees(/tool call aborted/)
  expect(existsSync(`/proc/${pid()}`)).toBe(false)
  pty.write('! echo still $((1 + 1))\r')
  await sees(/still 2\r\n/)
})

it('CP-13 Ctrl-C drops what was typed ahead, as a shell on a terminal does', async () => {
  const { pty, cwd, sees } = await open()
  await sees(/tenon> /)
  pty.write('! touch BEGUN; sleep 300\r')
  await expect.poll(() => existsSync(path.join(cwd, 'BEGUN'))).toBe(true)
  pty.write('! touch AHEAD\r')
  await sees(/touch AHEAD/)
  pty.write('\u0003')
  await sees(/tool call aborted/)
  pty.write('! echo still $((1 + 1))\r')
  await sees(/still 2\r\n/)
  expect(existsSync(path.join(cwd, 'AHEAD'))).toBe(false)
})

it('CP-13 what a command prints cannot steer the terminal', async () => {
  const { pty, sees, raw } = await open()
  await sees(/tenon> /)
  pty.write("! printf '\\033]0;pwn\\007\\033[2J\\033]52;c;aGk=\\007\\033[?25lsafe%d' 1\r")
  await sees(/safe1/)
  // The line that was typed holds the words, but no escape character.
  for (const sequence of [']0;', '[2J', ']52;', '[?25l']) expect(raw()).not.toContain(`\u001b${sequence}`)
})

it('CP-13 a terminal that goes away ends the program, and what it ran', async () => {
  const { pty, cwd, sees, exitCode } = await open()
  await sees(/tenon> /)
  pty.write('! echo $$ > pid; sleep 300\r')
  const pid = (): string => (existsSync(path.join(cwd, 'pid')) ? readFileSync(path.join(cwd, 'pid'), 'utf8').trim() : '')
  await expect.poll(pid).not.toBe('')
  pty.kill('SIGHUP')
  expect(await exitCode).toBe(129)
  expect(existsSync(`/proc/${pid()}`)).toBe(false)
})
