import { capability, Kernel } from '@tenon/kernel'
import { timed } from '../measuring/clock.ts'
import { boot, consumer, provider } from './tenon.ts'
import { times } from './workloads.ts'

/** A running composition whose one provider goes and comes back, and takes its dependents with it. */
export interface Flipping {
  /** Microseconds per dependent of one flip: all down, all up. */
  flip(): Promise<number>
  close(): Promise<void>
}

const Flipped = capability<{ next(): number }>('flipped')

/** @param others rows that have nothing to do with it */
export async function flipping(dependents: number, others: number): Promise<Flipping> {
  const kernel = new Kernel()
  const flipped = provider('flipped', Flipped)
  await boot(kernel, [
    provider(),
    ...times(others, (index) => consumer(`other-${index}`)),
    flipped,
    ...times(dependents, (index) => consumer(`dependent-${index}`, Flipped)),
  ])
  const last = `dependent-${dependents - 1}`
  return {
    async flip() {
      const ms = await timed(async () => {
        await kernel.row(flipped.name)?.unload()
        if (kernel.row(last)?.phase !== 'waiting') throw new Error(`${last} did not go down`)
        kernel.load(flipped)
        await kernel.settled()
        if (kernel.row(last)?.phase !== 'active') throw new Error(`${last} did not come up`)
      })
      return (ms * 1000) / dependents
    },
    close: () => kernel.close(),
  }
}
