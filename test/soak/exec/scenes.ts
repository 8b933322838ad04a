import { endingPlan } from './endings.ts'
import { type Plan, run, type Scene } from './play.ts'
import { Random } from './random.ts'
import { refusal } from './refusals.ts'
import { stoppedPlan } from './stops.ts'
import { survivorPlan } from './survivors.ts'

/** The command of this number, which follows from the seed. */
export function sceneOf(seed: number, index: number): Scene {
  const random = new Random(seed, index)
  const part = random.next()
  if (part < 0.64) return played(endingPlan(random))
  if (part < 0.82) return played(stoppedPlan(random))
  if (part < 0.93) return played(survivorPlan(random))
  return refusal(random)
}

function played(plan: Plan): Scene {
  const { command, stdin, ...rest } = plan.request
  const told = { command: clipped(command), ...(stdin !== undefined && { stdin: clipped(stdin) }), ...rest, stop: plan.stop }
  return { what: JSON.stringify(told), play: (world) => run(world, plan) }
}

function clipped(text: string): string {
  return text.length <= 200 ? text : `${text.slice(0, 200)}… (${text.length} characters)`
}
