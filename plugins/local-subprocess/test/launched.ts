import { definePlugin, type PluginScope } from '@tenon/kernel'
import { z } from 'zod'
import localSubprocess from '../src/index.ts'
import { RUNTIME_VERSION, type Runtime } from '../src/runtime.ts'
import type { Config } from '../src/settings.ts'
import { LAUNCHER } from './open-provider.ts'

/** What the row keeps. */
function runtimeOf(scope: Pick<PluginScope<never, never>, 'keep'>): Runtime {
  return scope.keep<Runtime>({
    key: 'processes',
    version: RUNTIME_VERSION,
    create() {
      throw new Error('the plugin keeps nothing of that name')
    },
    dispose: (kept) => kept.close(),
  })
}

/** The plugin, started the way this run is about. It is active when its launcher is there, which the plugin itself does not wait for. */
const { name, provides, budgets, config } = localSubprocess
export default definePlugin({
  name,
  provides,
  ...(budgets && { budgets }),
  config: z.preprocess((given) => ({ launcher: LAUNCHER, ...(given as object | undefined) }), config as z.ZodType<Config>),
  async activate(scope) {
    await localSubprocess.activate(scope)
    await runtimeOf(scope).launcher.idle()
  },
})
