import { spawn } from 'node:child_process'
import { Kernel, type Plugin } from '@tenon/kernel'
import localBash from '@tenon/plugin-local-bash'
import localSubprocess from '@tenon/plugin-local-subprocess'
import { Shell } from '@tenon/shell'
import { type SpawnSpec, Subprocess } from '@tenon/subprocess'
import { execa } from 'execa'
import nanoSpawn from 'nano-spawn'
import { $ as zx } from 'zx'
import { launcherOf } from '../../launcher-of.ts'

export interface Tenon extends AsyncDisposable {
  readonly subprocess: Subprocess
  readonly shell: Shell
}

export const TAIL_BYTES = 64_000

/** The two rows in a kernel, and the launcher, with the settings that they have by default but for the size of files. */
export async function openTenon(maxSpillBytes = 64 * 1024 ** 2): Promise<Tenon> {
  const kernel = new Kernel()
  kernel.load(localSubprocess as Plugin<never> as Plugin, { retainedSpillBytes: 8 * 1024 ** 3 })
  await kernel.load(localBash as Plugin<never> as Plugin, { maxSpillBytes }).ready()
  const [subprocess, shell] = [kernel.get(Subprocess), kernel.get(Shell)]
  if (subprocess === undefined || shell === undefined) throw new Error('the rows provide nothing')
  await launcherOf(subprocess)
  return { subprocess, shell, [Symbol.asyncDispose]: () => kernel[Symbol.asyncDispose]() }
}

/** A spec that keeps a tail of both streams, and files up to a size if one is given. */
export function collecting(argv: SpawnSpec['argv'], maxSpillBytes?: number): SpawnSpec {
  const output = { maxBytes: TAIL_BYTES, ...(maxSpillBytes !== undefined && { spill: { maxBytes: maxSpillBytes } }) }
  return { argv, cwd: process.cwd(), stdin: 'ignore', stdout: output, stderr: output, graceMs: 3_000 }
}

/** What one writes with nothing but Node: starts a program, keeps both streams, waits for their end. */
export function bare([file, ...args]: readonly [string, ...string[]]): Promise<string> {
  return new Promise((resolve, reject) => {
    const child = spawn(file, args, { stdio: ['ignore', 'pipe', 'pipe'] })
    const out: Buffer[] = []
    const err: Buffer[] = []
    child.stdout.on('data', (chunk: Buffer) => out.push(chunk))
    child.stderr.on('data', (chunk: Buffer) => err.push(chunk))
    child.once('error', reject)
    child.once('close', () => resolve(Buffer.concat(out).toString() + Buffer.concat(err).toString()))
  })
}

/** The same with what arrives thrown away. */
export function discarding([file, ...args]: readonly [string, ...string[]]): Promise<void> {
  return new Promise((resolve, reject) => {
    const child = spawn(file, args, { stdio: ['ignore', 'pipe', 'pipe'] })
    for (const stream of [child.stdout, child.stderr]) stream.on('data', () => undefined)
    child.once('error', reject)
    child.once('close', () => resolve())
  })
}

export type Run = () => Promise<unknown>

/** Ways to run a program that does nothing. */
export function programs({ subprocess }: Tenon): Readonly<Record<string, Run>> {
  return {
    bare: () => bare(['true']),
    tenon: () => subprocess.spawn(collecting(['true'], 64 * 1024 ** 2)).done,
    execa: () => execa('true'),
    'nano-spawn': () => nanoSpawn('true'),
  }
}

const COMMAND = ['bash', '--norc', '-c', 'true'] as const

/** Ways to run a shell that does nothing. */
export function shells({ shell }: Tenon): Readonly<Record<string, Run>> {
  const [file, ...args] = COMMAND
  return {
    bare: () => bare(COMMAND),
    tenon: async () => (await shell.execute(shell.resolve({ command: 'true' }))).result(),
    execa: () => execa(file, args),
    'nano-spawn': () => nanoSpawn(file, args),
    zx: () => zx({ quiet: true })`true`,
  }
}
