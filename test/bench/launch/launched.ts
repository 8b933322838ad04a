import { Kernel, type Plugin } from '@tenon/kernel'
import localSubprocess from '@tenon/plugin-local-subprocess'
import { type SpawnSpec, Subprocess } from '@tenon/subprocess'
import { launcherOf } from '../../launcher-of.ts'

const OUTPUT = { maxBytes: 64_000, spill: { maxBytes: 64 * 1024 ** 2 } }

/** Keeps a tail of both streams, and files of what does not fit. */
export function collecting(argv: SpawnSpec['argv']): SpawnSpec {
  return { argv, cwd: process.cwd(), stdin: 'ignore', stdout: OUTPUT, stderr: OUTPUT, graceMs: 3_000 }
}

export interface Provider extends AsyncDisposable {
  readonly subprocess: Subprocess
}

/** The provider in a kernel of its own; with `process` the launcher is there when it resolves. */
export async function openProvider(launcher: 'process' | 'host'): Promise<Provider> {
  const provider = await bootProvider(launcher)
  if (launcher === 'process') await launcherOf(provider.subprocess)
  return provider
}

/** As it boots: the launcher comes later. */
export async function bootProvider(launcher: 'process' | 'host'): Promise<Provider> {
  const kernel = new Kernel()
  await kernel.load(localSubprocess as Plugin<never> as Plugin, { launcher }).ready()
  const subprocess = kernel.get(Subprocess)
  if (subprocess === undefined) throw new Error('the row provides nothing')
  return { subprocess, [Symbol.asyncDispose]: () => kernel[Symbol.asyncDispose]() }
}
