import { Kernel, type KernelOptions } from '@tenon/kernel'
import { quiet } from '../quiet.ts'
import type { Wanted } from './desired.ts'
import { type Outcome, outcomeOf } from './outcome.ts'
import { Schedule, turn } from './schedule.ts'
import { Stage } from './stage.ts'

/** What becomes of a composition that is loaded in one tick, when its slow places go on in the given order; closed again. */
export async function bootOutcome(
  composition: readonly Pick<Wanted, 'shape' | 'wish'>[],
  order: readonly number[],
  options: KernelOptions = quiet,
): Promise<Outcome> {
  const kernel = new Kernel(options)
  const schedule = new Schedule(order, [])
  const stage = new Stage(kernel, schedule, [], () => false)
  const settle = async (): Promise<void> => {
    await turn()
    while (!schedule.isEmpty) {
      schedule.openNext()
      await turn()
    }
  }
  for (const { shape, wish } of composition) kernel.load(stage.pluginOf(shape, wish.code), wish.config, { id: shape.id })
  await settle()
  const outcome = outcomeOf(kernel.inspect())
  const closing = kernel.close()
  await settle()
  await closing
  return outcome
}
