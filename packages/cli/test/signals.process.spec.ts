import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, it, onTestFinished } from 'vitest'
import { folder } from './harness.ts'

const executable = fileURLToPath(new URL('../bin/tenon.js', import.meta.url))

interface Program {
  readonly child: ChildProcess
  readonly cwd: string
  /** Exit code and time since the last signal, in milliseconds. */
  ended(): Promise<{ readonly code: number | null; readonly ms: number }>
  signal(signal: NodeJS.Signals): void
  stderr(): string
}

async function start(args: readonly string[], files: Readonly<Record<string, string>> = {}, stdin = ''): Promise<Program> {
  const cwd = await folder(files)
  const child = spawn(process.execPath, [executable, ...args], { cwd, stdio: ['pipe', 'ignore', 'pipe'] })
  onTestFinished(() => void child.kill('SIGKILL'))
  child.stdin.write(stdin)
  let text = ''
  child.stderr.on('data', (chunk: Buffer) => {
    text += chunk.toString()
  })
  const exited = once(child, 'exit')
  let signalled = performance.now()
  return {
    child,
    cwd,
    ended: async () => {
      const [code] = (await exited) as [number | null]
      return { code, ms: performance.now() - signalled }
    },
    signal: (signal) => {
      signalled = performance.now()
      child.kill(signal)
    },
    stderr: () => text,
  }
}

const alive = (pid: number): boolean => existsSync(`/proc/${pid}`) && !/\) [ZX] /.test(readFileSync(`/proc/${pid}/stat`, 'utf8'))

/** The pids a command wrote down, once there are as many. */
async function pids({ cwd }: Program, count: number): Promise<readonly number[]> {
  const file = path.join(cwd, 'pids')
  const read = (): readonly number[] => (existsSync(file) ? readFileSync(file, 'utf8').trim().split('\n').map(Number) : [])
  await expect.poll(() => read().length).toBe(count)
  const list = read()
  onTestFinished(() => {
    for (const pid of list.filter(alive)) {
      try {
        process.kill(pid, 'SIGKILL')
      } catch {
        // It has ended by itself.
      }
    }
  })
  return list
}

const tree = 'echo $$ >>pids; sleep 301 & echo $! >>pids; sleep 302 & echo $! >>pids; wait'

it.each([
  ['SIGTERM', 143],
  ['SIGINT', 130],
  ['SIGHUP', 129],
] as const)('CP-12 %s during a running command: the tree is gone, the exit code is %i', async (signal, code) => {
  const program = await start(['call', 'bash', JSON.stringify({ command: tree, description: 'wait' })])
  const running = await pids(program, 3)
  expect(running.every(alive)).toBe(true)
  program.signal(signal)
  const { code: ended, ms } = await program.ended()
  expect(ended).toBe(code)
  expect(running.filter(alive)).toEqual([])
  expect(ms).toBeLessThan(20_000)
  expect(program.stderr()).toContain(`${signal}: closing`)
})

it('CP-12 the same from the console without a terminal', async () => {
  const program = await start(['run'], {}, `! ${tree}\n`)
  const running = await pids(program, 3)
  program.signal('SIGTERM')
  expect((await program.ended()).code).toBe(143)
  expect(running.filter(alive)).toEqual([])
})

it('CP-12 a second signal forces the end while a plugin is slow to close', async () => {
  const slow = `import { definePlugin } from '@tenon/kernel'
export default definePlugin({ name: 'slow', activate(scope) { scope.defer(() => new Promise((resolve) => setTimeout(resolve, 8000))); console.error('open') } })
`
  const program = await start(['run', 'slow.yaml'], { 'slow.yaml': 'plugins:\n  slow: ./slow.ts\n', 'slow.ts': slow })
  await expect.poll(program.stderr).toContain('open')
  program.signal('SIGTERM')
  await expect.poll(program.stderr).toContain('SIGTERM: closing')
  program.signal('SIGTERM')
  const { code, ms } = await program.ended()
  expect(code).toBe(143)
  expect(ms).toBeLessThan(4_000)
})

it('CP-12 a signal during boot ends what has been opened by then', async () => {
  const slow = `import { definePlugin } from '@tenon/kernel'
import { writeFileSync } from 'node:fs'
export default definePlugin({
  name: 'slow',
  async activate(scope) {
    scope.defer(() => writeFileSync('undone', ''))
    console.error('activating')
    await new Promise((resolve) => scope.signal.addEventListener('abort', resolve))
  },
})
`
  const program = await start(['run', 'slow.yaml'], { 'slow.yaml': 'plugins:\n  slow: ./slow.ts\n', 'slow.ts': slow })
  await expect.poll(program.stderr).toContain('activating')
  program.signal('SIGTERM')
  const { code, ms } = await program.ended()
  expect(code).toBe(143)
  expect(ms).toBeLessThan(10_000)
  expect(existsSync(path.join(program.cwd, 'undone'))).toBe(true)
})

it('CP-12 a signal while the catalog is still read, or its code imported, ends at once', async () => {
  const hanging = "console.error('importing'); await new Promise((resolve) => setTimeout(resolve, 60000)); export default {}"
  const files = {
    'hang.yaml': 'plugins:\n  hang: hanging\n',
    'node_modules/hanging/package.json': '{ "name": "hanging", "type": "module", "exports": "./index.js" }',
    'node_modules/hanging/index.js': hanging,
  }
  const program = await start(['run', 'hang.yaml'], files)
  await expect.poll(program.stderr).toContain('importing')
  program.signal('SIGINT')
  const { code, ms } = await program.ended()
  expect(code).toBe(130)
  expect(ms).toBeLessThan(5_000)
})

it('CP-12 when the reader of its output leaves, what runs ends in order, with 0', async () => {
  const chatty = `import { capability, definePlugin } from '@tenon/kernel'
import { writeFileSync } from 'node:fs'
export default definePlugin({
  name: 'chatty',
  activate(scope) {
    const timer = setInterval(() => process.stdout.write('more\\n'), 5)
    scope.defer(async () => { clearInterval(timer); await new Promise((resolve) => setImmediate(resolve)); writeFileSync('undone', '') })
  },
})
`
  const cwd = await folder({ 'chatty.yaml': 'plugins:\n  chatty: ./chatty.ts\n', 'chatty.ts': chatty })
  const child = spawn(process.execPath, [executable, 'run', 'chatty.yaml'], { cwd, stdio: ['pipe', 'pipe', 'inherit'] })
  onTestFinished(() => void child.kill('SIGKILL'))
  await once(child.stdout, 'data')
  child.stdout.destroy()
  expect(await once(child, 'exit')).toEqual([0, null])
  expect(existsSync(path.join(cwd, 'undone'))).toBe(true)
})

it('CP-13 an uncaught error of a plugin is told without a stack, closes in order and ends with 70', async () => {
  const bad = `import { definePlugin } from '@tenon/kernel'
import { writeFileSync } from 'node:fs'
export default definePlugin({ name: 'bad', activate(scope) { scope.defer(() => writeFileSync('undone', '')); setTimeout(() => { throw new Error('in a timer') }, 10) } })
`
  const program = await start(['run', 'bad.yaml'], { 'bad.yaml': 'plugins:\n  bad: ./bad.ts\n', 'bad.ts': bad })
  expect((await program.ended()).code).toBe(70)
  expect(program.stderr()).toContain('error: in a timer')
  expect(program.stderr()).not.toMatch(/^ +at /m)
  expect(existsSync(path.join(program.cwd, 'undone'))).toBe(true)
})

it('B167 an uncaught error is told with the row it comes from, in a timer, an event handler or a promise, at boot and later', async () => {
  const throwing = (how: string, wait = ''): string => `import { definePlugin } from '@tenon/kernel'
import { EventEmitter } from 'node:events'
const emitter = new EventEmitter()
emitter.on('thing', () => { throw new Error('in a handler') })
void emitter
export default definePlugin({ name: 'bad', async activate(scope) { ${how}; ${wait} } })
`
  const told = async (source: string): Promise<string> => {
    const program = await start(['run', 'bad.yaml'], { 'bad.yaml': 'plugins:\n  tools: tools\n  culprit: ./bad.ts\n', 'bad.ts': source })
    expect((await program.ended()).code).toBe(70)
    return program.stderr()
  }
  const of = (what: string): RegExp =>
    new RegExp(`^error: ${what} \\(nobody caught it, of row "culprit", .*bad\\.ts \\(bundled\\):\\d+:\\d+: closing\\)$`, 'm')
  expect(await told(throwing("setTimeout(() => { throw new Error('in a timer') }, 10)"))).toMatch(of('in a timer'))
  expect(await told(throwing("setImmediate(() => emitter.emit('thing'))"))).toMatch(of('in a handler'))
  expect(await told(throwing("void Promise.reject(new Error('of nobody'))"))).toMatch(of('of nobody'))
  expect(
    await told(
      throwing(
        "setTimeout(() => { throw new Error('early') }, 10)",
        'await new Promise((resolve) => scope.signal.addEventListener("abort", resolve))',
      ),
    ),
  ).toMatch(of('early'))
})

it('B167 an error that is thrown again and again while others close is told five times', async () => {
  const bad = `import { definePlugin } from '@tenon/kernel'
export default definePlugin({
  name: 'bad',
  activate(scope) {
    let thrown = 0
    let enough = () => undefined
    const all = new Promise((resolve) => { enough = resolve })
    const timer = setInterval(() => { if (++thrown === 9) { clearInterval(timer); enough() } throw new Error('again') }, 1)
    scope.defer(() => all)
  },
})
`
  const program = await start(['run', 'bad.yaml'], { 'bad.yaml': 'plugins:\n  bad: ./bad.ts\n', 'bad.ts': bad })
  expect((await program.ended()).code).toBe(70)
  expect(program.stderr().match(/^error: again/gm)).toHaveLength(5)
})
