import { capability, definePlugin, Kernel, type Plugin } from '@tenon/kernel'
import { collectGarbage } from '../measuring/child.ts'
import { timed } from '../measuring/clock.ts'
import { times, type Workloads } from './workloads.ts'

interface Service {
  next(): number
}
const Service = capability<Service>('service')

export const tenon: Workloads = {
  async load(count) {
    const plugins = [provider(), ...times(count, (index) => consumer(`consumer-${index}`))]
    const kernel = new Kernel()
    const loadMs = await timed(() => boot(kernel, plugins))
    assertActive(kernel, plugins)
    return { loadMs, closeMs: await timed(() => kernel.close()) }
  },

  async chain(count) {
    const links = times(count, (index) => capability<Service>(`link-${index}`))
    const plugins = times(count, (index) => chained(links, index))
    const kernel = new Kernel()
    const bootMs = await timed(() => boot(kernel, plugins))
    assertActive(kernel, plugins)
    const restarted = chained(links, 0)
    const restartMs = await timed(async () => {
      await kernel.row('chained-0')?.replace(restarted)
      await kernel.settled()
    })
    assertActive(kernel, plugins)
    return { bootMs, restartMs, closeMs: await timed(() => kernel.close()) }
  },

  async memory(count) {
    const kernel = new Kernel()
    await boot(kernel, [provider()])
    collectGarbage()
    const before = process.memoryUsage().heapUsed
    await boot(
      kernel,
      times(count, (index) => consumer(`consumer-${index}`)),
    )
    collectGarbage()
    const bytes = (process.memoryUsage().heapUsed - before) / count
    await kernel.close()
    return { bytes }
  },
}

export async function boot(kernel: Kernel, plugins: readonly Plugin<undefined>[]): Promise<void> {
  for (const plugin of plugins) kernel.load(plugin)
  await kernel.settled()
}

export function provider(name = 'provider', key = Service): Plugin<undefined> {
  return definePlugin({
    name,
    provides: [key],
    activate(scope) {
      scope.provide(key, { next: () => 0 })
    },
  })
}

export function consumer(name: string, key = Service): Plugin<undefined> {
  return definePlugin({
    name,
    inject: [key],
    activate(scope) {
      scope.defer(() => undefined)
    },
  })
}

function chained(links: readonly (typeof Service)[], index: number): Plugin<undefined> {
  const own = links[index] ?? Service
  return definePlugin({
    name: `chained-${index}`,
    inject: links.slice(Math.max(0, index - 1), index),
    provides: [own],
    activate(scope) {
      scope.provide(own, { next: () => 0 })
      scope.defer(() => undefined)
    },
  })
}

/** A bench of rows that never came up would be a fast one. */
function assertActive(kernel: Kernel, plugins: readonly Plugin<undefined>[]): void {
  for (const { name } of plugins) if (kernel.row(name)?.phase !== 'active') throw new Error(`"${name}" is not active`)
}
