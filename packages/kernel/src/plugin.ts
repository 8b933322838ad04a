import type { z } from 'zod'
import { type AnyCapability, isCapability, type ValuesOf } from './capability.ts'
import { KernelError } from './errors.ts'
import type { PluginScope } from './plugin-scope.ts'

/** Deadlines in milliseconds, integers from 1 to 2^31 - 1. */
export interface Budgets {
  /** One activation, or one fork body. Default 30,000. */
  readonly activationMs: number
  /** One undo, one spawned work after its cancellation, or the disposal of one kept value. Default 10,000. */
  readonly undoMs: number
}

type ConfigOf<S> = S extends z.ZodType ? z.output<S> : undefined
type InputOf<S> = S extends z.ZodType ? z.input<S> : undefined

export interface PluginSpec<Needs extends readonly AnyCapability[], Provides extends readonly AnyCapability[], Schema extends z.ZodType | undefined> {
  /** One kebab-case word; the default id of its row. */
  readonly name: string
  /** A row is active only while all of these are present; their values are the arguments of `activate`. */
  readonly inject?: Needs
  /** All that `activate` and its forks may provide. Claimed from the start of an activation. */
  readonly provides?: Provides
  /** Parsed before `activate`. Use `.prefault({})` where every option has a default. */
  readonly config?: Schema
  readonly budgets?: Partial<Budgets>
  /** Offers become visible together when it succeeds. If it throws, everything it registered is undone. */
  activate(scope: PluginScope<ConfigOf<Schema>, NoInfer<Provides>[number]>, ...values: ValuesOf<NoInfer<Needs>>): void | Promise<void>
}

declare const input: unique symbol

/** What `definePlugin` makes; `Input` is the type of the config a row may be given. */
export interface Plugin<Input = unknown> {
  readonly name: string
  readonly inject: readonly AnyCapability[]
  readonly provides: readonly AnyCapability[]
  readonly config: z.ZodType | undefined
  readonly budgets: Partial<Budgets> | undefined
  // biome-ignore lint/suspicious/noExplicitAny: the types of scope and values were checked by definePlugin and are erased here.
  readonly activate: (scope: any, ...values: any[]) => void | Promise<void>
  /** Only the compiler looks at it. */
  readonly [input]?: (config: Input) => void
}

/** A plugin of whatever config, for lists of them. */
// biome-ignore lint/suspicious/noExplicitAny: Input is contravariant, and `never` would ask for a config of every one.
export type AnyPlugin = Plugin<any>

/**
 * @throws KernelError CAPABILITY_KEY_INVALID if the name is not kebab-case, or something in `inject` or `provides` is not a capability
 * (two modules that import each other hand out `undefined`).
 */
export function definePlugin<
  const Needs extends readonly AnyCapability[] = readonly [],
  const Provides extends readonly AnyCapability[] = readonly [],
  Schema extends z.ZodType | undefined = undefined,
>(spec: PluginSpec<Needs, Provides, Schema>): Plugin<InputOf<Schema>> {
  const { name, inject = [], provides = [], config, budgets } = spec
  const plugin = { name, inject, provides, config, budgets, activate: spec.activate.bind(spec) as Plugin['activate'], [CHECKED]: true }
  return Object.freeze(checkPlugin(plugin))
}

/** On what `definePlugin` of any copy of the kernel made, so that a load need not look at it again. */
const CHECKED = Symbol.for('tenon.plugin.checked')

const NAME = /^[a-z][a-z0-9]*(-[a-z0-9]+)*$/

/** @throws KernelError CAPABILITY_KEY_INVALID for what is not a plugin, such as another export of a plugin's module. */
export function checkPlugin<P extends Plugin>(plugin: P): P {
  if (Object.isFrozen(plugin) && CHECKED in plugin) return plugin
  const { name, activate } = plugin ?? {}
  if (typeof name !== 'string' || !NAME.test(name)) {
    throw new KernelError('CAPABILITY_KEY_INVALID', `plugin name ${JSON.stringify(name)} is not kebab-case; write it like "local-bash"`)
  }
  if (typeof activate !== 'function') throw new KernelError('CAPABILITY_KEY_INVALID', `"${name}" is not a plugin; make it with definePlugin()`)
  for (const list of ['inject', 'provides'] as const) {
    for (const [index, token] of (plugin[list] ?? [undefined]).entries()) {
      if (isCapability(token)) continue
      const why = token === undefined ? 'is undefined (do two modules import each other?)' : 'is not a capability; make it with capability()'
      throw new KernelError('CAPABILITY_KEY_INVALID', `plugin "${name}": ${list}[${index}] ${why}`)
    }
  }
  return plugin
}

const LONGEST_TIMER = 2 ** 31 - 1

/** @throws KernelError CONFIG_INVALID: Node fires a timer above 2^31 - 1 ms at once. */
export function checkBudgets(budgets: Partial<Budgets> = {}, where: string): Partial<Budgets> {
  for (const [name, ms] of Object.entries(budgets)) {
    if (Number.isInteger(ms) && ms >= 1 && ms <= LONGEST_TIMER) continue
    throw new KernelError('CONFIG_INVALID', `"${where}": budgets.${name} is ${String(ms)}; give whole milliseconds from 1 to ${LONGEST_TIMER}`)
  }
  return budgets
}
