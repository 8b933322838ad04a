import { type Capability, definePlugin, type Kernel, type LoadOptions, type Plugin } from '@tenon/kernel'

type LoadArguments<Input> = undefined extends Input
  ? [config?: NoInfer<Input>, options?: LoadOptions]
  : [config: NoInfer<Input>, options?: LoadOptions]

/** A plugin with its config, ready to be loaded. */
export interface HarnessRow {
  readonly plugin: Plugin
  readonly config: unknown
  readonly options: LoadOptions | undefined
}

/** A plugin with a config, or under another id. A plugin that needs neither can be given to the harness as it is. */
export function row<Input>(plugin: Plugin<Input>, ...[config, options]: LoadArguments<Input>): HarnessRow {
  return { plugin: plugin as Plugin, config, options }
}

/** A plugin that provides just this value: for a stand-in of what the plugin under test injects. */
export function providing<T>(token: Capability<T>, value: NoInfer<T>): Plugin<undefined> {
  return definePlugin({ name: `providing-${token.key}`, provides: [token], activate: (scope) => scope.provide(token, value) })
}

export function loadInto(kernel: Kernel, one: Plugin<undefined> | HarnessRow): string {
  const { plugin, config, options } = 'plugin' in one ? one : { plugin: one as Plugin, config: undefined, options: undefined }
  return kernel.load(plugin, config, options).id
}
