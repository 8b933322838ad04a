import { Kernel, type Plugin, type Row } from '@tenon/kernel'
import { Shell } from '../index.ts'
import type { ShellSettings, ShellWorld } from './world.ts'

/** A kernel of its own with two rows: the process provider and the executor under test. `base` holds under whatever a test sets. */
export async function openKernelWorld(
  processes: Plugin<never>,
  executor: Plugin<never>,
  settings: ShellSettings = {},
  base: ShellSettings = {},
): Promise<ShellWorld> {
  const kernel = new Kernel()
  const provided = (): Shell => {
    const shell = kernel.get(Shell)
    if (shell === undefined) throw new Error(`row "executor" provides no shell: ${JSON.stringify(kernel.explain('executor'))}`)
    return shell
  }
  const subprocess = kernel.load(processes as Plugin, {}, { id: 'processes' })
  const loaded = async (): Promise<Row> => {
    const row = kernel.load(executor as Plugin, { ...base, ...settings }, { id: 'executor' })
    await row.ready()
    return row
  }
  const row = await loaded().catch(async (error: unknown) => {
    await kernel[Symbol.asyncDispose]()
    throw error
  })
  return {
    shell: provided(),
    // Another plugin object is other code: the row is activated anew even with equal settings.
    reload: async (next = settings) => {
      await row.replace({ ...(executor as Plugin) }, { ...base, ...next })
      return provided()
    },
    endProcesses: () => subprocess.unload(),
    close: () => kernel[Symbol.asyncDispose](),
  }
}
