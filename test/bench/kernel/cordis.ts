import { collectGarbage } from '../measuring/child.ts'
import { timed } from '../measuring/clock.ts'
import { times, type Workloads } from './workloads.ts'

/** What is used of cordis: its own declarations do not resolve under `moduleResolution: NodeNext`. */
export interface Context {
  readonly fiber: { dispose(): Promise<void> }
  plugin(plugin: CordisPlugin): Fiber
  provide(name: string, value: unknown): void
  effect(execute: () => () => void): void
  on(name: string, listener: (event: never) => void): void
  emit(name: string, event: unknown): void
}

interface Fiber extends PromiseLike<unknown> {
  readonly name: string
  readonly state: number
  restart(): Promise<void>
}

interface CordisPlugin {
  readonly name: string
  readonly inject?: readonly string[]
  apply(context: Context): void
}

const ACTIVE = 2

/** Not before it is asked for: a process that measures Tenon does not load it. */
export async function newContext(): Promise<Context> {
  const { Context } = (await import('cordis')) as unknown as { readonly Context: new () => Context }
  return new Context()
}

export const cordis: Workloads = {
  async load(count) {
    const plugins = [provider(), ...times(count, (index) => consumer(`consumer-${index}`))]
    const context = await newContext()
    let fibers: Fiber[] = []
    const loadMs = await timed(async () => {
      fibers = await boot(context, plugins)
    })
    assertActive(fibers)
    return { loadMs, closeMs: await timed(() => context.fiber.dispose()) }
  },

  async chain(count) {
    let isUp = (): void => undefined
    // The fiber of a plugin that still waits counts as settled: that the chain is up is known when its end was applied.
    const up = (): Promise<void> =>
      new Promise((resolve) => {
        isUp = resolve
      })
    const plugins = times(count, (index) => chained(index, () => index === count - 1 && isUp()))
    const context = await newContext()
    let fibers: Fiber[] = []
    const bootMs = await timed(async () => {
      const end = up()
      fibers = plugins.map((plugin) => context.plugin(plugin))
      await end
      await fibers.at(-1)
    })
    assertActive(fibers)
    const restartMs = await timed(async () => {
      const end = up()
      await fibers[0]?.restart()
      await end
      await fibers.at(-1)
    })
    assertActive(fibers)
    return { bootMs, restartMs, closeMs: await timed(() => context.fiber.dispose()) }
  },

  async memory(count) {
    const context = await newContext()
    await boot(context, [provider()])
    collectGarbage()
    const before = process.memoryUsage().heapUsed
    await boot(
      context,
      times(count, (index) => consumer(`consumer-${index}`)),
    )
    collectGarbage()
    const bytes = (process.memoryUsage().heapUsed - before) / count
    await context.fiber.dispose()
    return { bytes }
  },
}

async function boot(context: Context, plugins: readonly CordisPlugin[]): Promise<Fiber[]> {
  const fibers = plugins.map((plugin) => context.plugin(plugin))
  for (const fiber of fibers) await fiber
  return fibers
}

function provider(): CordisPlugin {
  return {
    name: 'provider',
    apply(context) {
      context.provide('service', { next: () => 0 })
    },
  }
}

function consumer(name: string): CordisPlugin {
  return {
    name,
    inject: ['service'],
    apply(context) {
      context.effect(() => () => undefined)
    },
  }
}

function chained(index: number, applied: () => void): CordisPlugin {
  return {
    name: `chained-${index}`,
    inject: index === 0 ? [] : [`link-${index - 1}`],
    apply(context) {
      context.provide(`link-${index}`, { next: () => 0 })
      context.effect(() => () => undefined)
      applied()
    },
  }
}

function assertActive(fibers: readonly Fiber[]): void {
  for (const { name, state } of fibers) if (state !== ACTIVE) throw new Error(`"${name}" is not active`)
}
