import { type ChildProcess, spawn } from 'node:child_process'
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { vi } from 'vitest'

const repository = dirname(dirname(dirname(fileURLToPath(import.meta.url))))

/** What a stand-in wrote down: `pnpm` installs, `tsc` compiles. */
export interface StepRecord {
  readonly step: 'pnpm' | 'tsc'
  readonly event: 'began' | 'ended'
  readonly pid: number
  readonly argv: readonly string[]
  readonly env: Readonly<Record<string, string>>
}

export interface Finished {
  readonly code: number | null
  readonly signal: NodeJS.Signals | null
  readonly stdout: string
  readonly stderr: string
}

/**
 * A checkout with one package and the true bootstrap scripts. Installer, compiler and test runner are small programs that write
 * down how they were called, so that no network is needed and a test decides when a step may end.
 */
export class SmallCheckout implements Disposable {
  readonly root = realpathSync(mkdtempSync(join(tmpdir(), 'tenon-checkout-')))
  readonly #children = new Set<ChildProcess>()

  constructor() {
    cpSync(join(repository, 'scripts'), join(this.root, 'scripts'), { recursive: true })
    this.write('package.json', '{ "name": "small", "private": true, "type": "module" }')
    this.write('pnpm-lock.yaml', 'lockfileVersion: 9')
    this.write('pnpm-workspace.yaml', 'packages: [packages/*]')
    this.write('packages/one/package.json', '{ "name": "one", "type": "module" }')
    this.write('packages/one/src/one.ts', 'export const one = 1\n')
    cpSync(join(repository, 'test', 'bootstrap', 'stand-in-pnpm.cjs'), join(this.root, '.tools/pnpm-10.34.9/node_modules/pnpm/bin/pnpm.cjs'))
    cpSync(join(repository, 'test', 'bootstrap', 'stand-ins'), join(this.root, 'stand-ins'), { recursive: true })
  }

  write(path: string, text: string): void {
    mkdirSync(dirname(join(this.root, path)), { recursive: true })
    writeFileSync(join(this.root, path), text)
  }

  remove(path: string): void {
    rmSync(join(this.root, path), { recursive: true, force: true })
  }

  has(path: string): boolean {
    return existsSync(join(this.root, path))
  }

  /** Lets no installer end while it is held. */
  hold(): void {
    this.write('hold', '')
  }

  letGo(): void {
    this.remove('hold')
  }

  records(): readonly StepRecord[] {
    const path = join(this.root, 'records.jsonl')
    if (!existsSync(path)) return []
    const lines = readFileSync(path, 'utf8').split('\n').slice(0, -1)
    return lines.map((line) => JSON.parse(line))
  }

  /** The steps in the order in which they began. */
  steps(): readonly string[] {
    return this.records().flatMap(({ step, event }) => (event === 'began' ? [step] : []))
  }

  async recordOf(step: StepRecord['step'], event: StepRecord['event'] = 'began'): Promise<StepRecord> {
    return await vi.waitFor(() => {
      const found = this.records().find((record) => record.step === step && record.event === event)
      if (!found) throw new Error(`${step} has not ${event}`)
      return found
    }, WAIT)
  }

  bootstrap(argv: readonly string[], { env = {}, cwd = '.' }: { env?: Record<string, string | undefined>; cwd?: string } = {}): Run {
    const own = { ...process.env, HOME: join(this.root, 'home'), NODE_ENV: undefined, npm_execpath: undefined, ...env }
    const child = spawn(process.execPath, [join(this.root, 'scripts/bootstrap.mjs'), ...argv], { cwd: join(this.root, cwd), env: own })
    this.#children.add(child)
    return new Run(child)
  }

  /** The same in a shell that waits for it, as `npm run` does it. */
  bootstrapInShell(task: string): Run {
    const env = { ...process.env, HOME: join(this.root, 'home'), npm_lifecycle_event: task, NODE: process.execPath }
    const child = spawn('/bin/sh', ['-c', `"$NODE" scripts/bootstrap.mjs ${task}; exit $?`], { cwd: this.root, env })
    this.#children.add(child)
    return new Run(child)
  }

  [Symbol.dispose](): void {
    this.letGo()
    for (const child of this.#children) if (child.exitCode === null) child.kill('SIGKILL')
    for (const { pid, event } of this.records()) if (event === 'began') endStandIn(pid, this.root)
    rmSync(this.root, { recursive: true, force: true, maxRetries: 5 })
  }
}

/** One run of the bootstrap script. */
export class Run {
  readonly finished: Promise<Finished>
  #stdout = ''
  #stderr = ''

  constructor(readonly child: ChildProcess) {
    child.stdout?.setEncoding('utf8').on('data', (text: string) => {
      this.#stdout += text
    })
    child.stderr?.setEncoding('utf8').on('data', (text: string) => {
      this.#stderr += text
    })
    this.finished = new Promise((resolve, reject) => {
      child.once('error', reject)
      child.once('close', (code, signal) => resolve({ code, signal, stdout: this.#stdout, stderr: this.#stderr }))
    })
  }

  /** Waits until it has said something that matches. */
  async says(text: RegExp): Promise<void> {
    await vi.waitFor(() => {
      if (!text.test(this.#stderr)) throw new Error(`has not said ${text}, but: ${this.#stderr}`)
    }, WAIT)
  }
}

const WAIT = { timeout: 15_000, interval: 20 }

/** Only if the number is still that of a stand-in of this checkout: it may have been given away since. */
function endStandIn(pid: number, root: string): void {
  try {
    if (readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes(root)) process.kill(pid, 'SIGKILL')
  } catch {
    // It has ended.
  }
}
