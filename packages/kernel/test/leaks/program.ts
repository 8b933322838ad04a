import { getEventListeners } from 'node:events'
import { setImmediate as turn } from 'node:timers/promises'
import { Emitter, Kernel } from '@tenon/kernel'
import pino from 'pino'
import { container, type DependencyContainer } from 'tsyringe'
import { type CycleName, cycles } from './cycles.ts'
import { Witnesses } from './witnesses.ts'

/** What is left after many cycles of one kind. Printed as JSON. */
export interface Remains {
  /** Bytes of heap after a collection, at equal distances. */
  readonly heap: readonly number[]
  readonly cyclesPerSample: number
  /** Of the first cycles, while the kernel still runs. */
  readonly witnesses: ReturnType<Witnesses['count']>
  /** Once the kernel has closed. */
  readonly listeners: number
  readonly timers: number
  /** What else keeps the process alive, beyond what did before. */
  readonly resources: readonly string[]
}

const WARM_UP = 1000
const WITNESSED = 300
const SAMPLES = 24

const [name = '', count = '10000', plant = ''] = process.argv.slice(2)
console.log(JSON.stringify(await remainsOf(name as CycleName, Number(count), plant)))

/** @param plant `object`: what a leak of one small object a cycle looks like */
async function remainsOf(cycleName: CycleName, count: number, plant: string): Promise<Remains> {
  const before = process.getActiveResourcesInfo()
  const planted: object[] = []
  const witnesses = new Witnesses()
  watchChildren(container, witnesses)
  const abort = new AbortController()
  const emitter = new Emitter<number>()
  const kernel = new Kernel({ logger: pino({ level: 'silent' }) })
  const cycle = await cycles[cycleName](kernel, { witnesses, emitter, signal: abort.signal })

  const heap: number[] = new Array<number>(SAMPLES).fill(0)
  const cyclesPerSample = Math.ceil(count / SAMPLES)
  for (let index = 0; index < WARM_UP; index++) {
    if (index === WITNESSED) witnesses.stop()
    await cycle(index)
  }
  for (let sample = 0; sample < SAMPLES; sample++) {
    for (let index = 0; index < cyclesPerSample; index++) {
      await cycle(WARM_UP + sample * cyclesPerSample + index)
      if (plant === 'object') planted.push({ index })
    }
    heap[sample] = await collected()
  }
  await kernel.settled()
  await collected()
  const counted = witnesses.count()
  await kernel.close()
  await turn()
  const after = process.getActiveResourcesInfo()
  return {
    heap,
    cyclesPerSample,
    witnesses: counted,
    listeners: emitter.listenerCount + kernel.events.listenerCount + getEventListeners(abort.signal, 'abort').length,
    timers: after.filter((kind) => kind === 'Timeout').length,
    resources: after.filter((kind) => !before.includes(kind)),
  }
}

function watchChildren(parent: DependencyContainer, witnesses: Witnesses): void {
  const create = parent.createChildContainer.bind(parent)
  parent.createChildContainer = () => {
    const child = witnesses.see('container', create())
    watchChildren(child, witnesses)
    return child
  }
}

/** A target of a WeakRef lives at least until the turn in which it was looked at has ended. */
async function collected(): Promise<number> {
  await turn()
  globalThis.gc?.()
  await turn()
  globalThis.gc?.()
  return process.memoryUsage().heapUsed
}
