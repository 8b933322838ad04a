import { writeFile } from 'node:fs/promises'
import path from 'node:path'
import { PassThrough } from 'node:stream'
import { expect, it, onTestFinished } from 'vitest'
import { main } from '../src/index.ts'
import { CATALOG, folder, TOOLS_PLUGIN } from './harness.ts'
import { JOBS_CATALOG, JOBS_PLUGIN } from './jobs-plugin.ts'

const SLOW = TOOLS_PLUGIN.replace(
  'const render =',
  `tools.register(scope, {
      name: 'wait', description: 'Waits for its end.', inputSchema: {},
      execute: (_: any, call: any) => new Promise((_resolve, reject) => { scope.log.warn('waiting'); call.signal.addEventListener('abort', () => reject(call.signal.reason)) }),
    })
    const render =`,
)

interface Terminal {
  type(text: string): void
  /** Resolves once the text was shown after what was seen before. */
  sees(text: string): Promise<void>
  /** Everything that was shown. */
  shown(): string
  readonly status: Promise<number>
  readonly cwd: string
}

/** The console on what claims to be a terminal. */
async function open(args: readonly string[] = []): Promise<Terminal> {
  const cwd = await folder({ 'tenon.yaml': CATALOG, 'jobs.yaml': JOBS_CATALOG, 'tools.ts': SLOW, 'jobs.ts': JOBS_PLUGIN })
  const [stdin, stdout, stderr] = [new PassThrough(), new PassThrough(), new PassThrough()]
  let text = ''
  let seen = 0
  let waiting: (() => void)[] = []
  for (const stream of [stdout, stderr]) {
    stream.on('data', (chunk: Buffer) => {
      // biome-ignore lint/suspicious/noControlCharactersInRegex: the line editor's own moves.
      text += chunk.toString().replace(/\u001b\[[0-9;?]*[A-Za-z]/g, '')
      for (const look of waiting) look()
    })
  }
  const io = {
    stdin: Object.assign(stdin, { isTTY: true }),
    stdout: Object.assign(stdout, { isTTY: true }),
    stderr: Object.assign(stderr, { isTTY: true }),
  }
  const status = main(['run', '--no-color', ...args], {
    ...io,
    env: {},
    cwd,
    pid: 7,
    exit: (code) => expect.fail(`the program ends the process, with ${code}`),
  })
  onTestFinished(async () => {
    stdin.end()
    await status
  })
  const sees = (wanted: string): Promise<void> =>
    new Promise((resolve) => {
      const look = (): void => {
        const at = text.indexOf(wanted, seen)
        if (at === -1) return
        seen = at + wanted.length
        waiting = waiting.filter((other) => other !== look)
        resolve()
      }
      waiting.push(look)
      look()
    })
  return { type: (keys) => void stdin.write(keys), sees, shown: () => text, status, cwd }
}

it('CP-13 on a terminal there is a prompt, and history', async () => {
  const terminal = await open()
  await terminal.sees('tenon> ')
  terminal.type('echo {"text": "first"}\r')
  await terminal.sees('\nfirst\n')
  await terminal.sees('tenon> ')
  terminal.type('\u001b[A\r')
  await terminal.sees('\nfirst\n')
  terminal.type('quit\r')
  expect(await terminal.status).toBe(0)
})

it('CP-13 tab completes commands, tools and rows', async () => {
  const terminal = await open()
  await terminal.sees('tenon> ')
  // Pasted text is not completed: the key has to come alone.
  const complete = async (start: string, whole: string): Promise<void> => {
    terminal.type(start)
    await terminal.sees(start)
    terminal.type('\t')
    await terminal.sees(whole)
  }
  await complete('expl', 'ain ')
  await complete('mi', 'ne')
  terminal.type('\r')
  await terminal.sees('mine is active')
  await complete('set to', 'ols.')
  terminal.type('abortGraceMs=900\r')
  await terminal.sees('reconfigured tools')
  await complete('ech', 'o ')
  terminal.type('{"text": "done"}\r')
  await terminal.sees('\ndone\n')
})

it('CP-13 Ctrl-C cancels the running call, and what is typed goes on', async () => {
  const terminal = await open()
  await terminal.sees('tenon> ')
  terminal.type('wait\r')
  await terminal.sees('waiting')
  terminal.type('\u0003')
  await terminal.sees('Error: tool call aborted')
  terminal.type('echo {"text": "alive"}\r')
  await terminal.sees('\nalive\n')
  terminal.type('\u0003')
  await terminal.sees('Ctrl-C again to quit')
  terminal.type('half a li')
  await terminal.sees('half a li')
  terminal.type('\u0003')
  await terminal.sees('Ctrl-C again to quit')
  terminal.type('echo {"text": "still"}\r')
  await terminal.sees('\nstill\n')
})

it('CP-13 Ctrl-C twice quits, from a call and from the prompt', async () => {
  const calling = await open()
  await calling.sees('tenon> ')
  calling.type('wait\r')
  await calling.sees('waiting')
  calling.type('\u0003\u0003')
  expect(await calling.status).toBe(130)
  const idle = await open()
  await idle.sees('tenon> ')
  idle.type('\u0003\u0003')
  expect(await idle.status).toBe(0)
})

it('CP-13 lines typed while a call runs wait for its end', async () => {
  const terminal = await open(['jobs.yaml'])
  await terminal.sees('tenon> ')
  terminal.type('hold\rjobs\r')
  await terminal.sees('holding test-1')
  terminal.type('\u0002')
  await terminal.sees('expired test-1')
  await terminal.sees('test-1  running')
})

it('CP-13 Ctrl-C drops the lines typed ahead, and only those', async () => {
  const terminal = await open()
  await terminal.sees('tenon> ')
  terminal.type('wait\recho {"text": "ahead"}\r')
  await terminal.sees('waiting')
  terminal.type('\u0003echo {"text": "behind"}\r')
  await terminal.sees('aborted')
  await terminal.sees('\nbehind\n')
  expect(terminal.shown()).not.toContain('\nahead\n')
})

it('CP-13 the end of input quits, and closes everything', async () => {
  const terminal = await open()
  await terminal.sees('tenon> ')
  terminal.type('\u0004')
  expect(await terminal.status).toBe(0)
})

it('CP-13 news that comes while a person types does not spoil the line', async () => {
  const terminal = await open(['--watch'])
  await terminal.sees('tenon> ')
  terminal.type('echo {"te')
  await terminal.sees('echo {"te')
  await writeFile(path.join(terminal.cwd, 'tenon.yaml'), CATALOG.replace('tools: tools', 'tools: { use: tools, with: { abortGraceMs: 700 } }'))
  await terminal.sees('reconfigured tools; 1 untouched\n')
  await terminal.sees('tenon> echo {"te')
  await writeFile(path.join(terminal.cwd, 'tenon.yaml'), 'plugins: [')
  await terminal.sees('[CATALOG_SYNTAX]')
  await terminal.sees('tenon> echo {"te')
  terminal.type('xt": "whole"}\r')
  await terminal.sees('\nwhole\n')
})

it('CP-13 Ctrl-B sends the call that waits to the background; at the prompt it moves the cursor', async () => {
  const terminal = await open(['jobs.yaml'])
  await terminal.sees('tenon> ')
  terminal.type('hold\r')
  await terminal.sees('holding test-1')
  terminal.type('\u0002')
  await terminal.sees('expired test-1')
  await terminal.sees('tenon> ')
  for (const key of ['j', 'b', 's', '\u0002', '\u0002', 'o', '\r']) terminal.type(key)
  await terminal.sees('test-1  running')
})
