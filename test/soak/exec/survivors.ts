import type { ShellExecution } from '@tenon/shell'
import type { Plan } from './play.ts'
import type { Random } from './random.ts'
import { text } from './streams.ts'

const LIFE_SECONDS = 4

/** Commands that end and leave somebody behind, who is neither waited for nor lost. */
export function survivorPlan(random: Random): Plan {
  return random.pick([background, background, escaped, writing])(random)
}

function background(random: Random): Plan {
  const command = random.pick([
    `sleep ${LIFE_SECONDS} & echo up`,
    `sleep ${LIFE_SECONDS} >/dev/null & echo up`,
    `sleep ${LIFE_SECONDS} 2>&1 & echo up; exit 0`,
  ])
  return left(command, random)
}

function escaped(random: Random): Plan {
  return left(random.pick([`setsid sleep ${LIFE_SECONDS} & echo up`, `(setsid sleep ${LIFE_SECONDS} >/dev/null 2>&1 &); echo up`]), random)
}

function left(command: string, random: Random): Plan {
  return {
    request: { command },
    stop: { by: 'nothing' },
    natural: { exitCode: 0, signal: null, stdout: text('up\n') },
    async afterwards(execution) {
      const endedAt = performance.now()
      const count = await execution.survivors()
      // Under a load that starves the soak itself for that long, the survivor has ended.
      const isStarved = performance.now() - endedAt > (LIFE_SECONDS - 1) * 1_000
      return count === 1 || isStarved ? [] : [`${count} survivors, not 1`]
    },
    isKept: random.chance(0.5),
  }
}

/** It writes on after the end, and no byte gets lost. */
function writing(random: Random): Plan {
  const times = random.whole(3, 12)
  return {
    request: { command: `(for i in $(seq ${times}); do echo t; sleep 0.03; done) & echo up` },
    stop: { by: 'nothing' },
    natural: { exitCode: 0, signal: null },
    async afterwards(execution) {
      const { text: early } = (await execution.result()).stdout
      const whole = await untilFinished(execution)
      const faults = /^(?:t\n)*up\n(?:t\n)*$/.test(whole) && whole.split('t\n').length - 1 === times ? [] : [`the whole is ${JSON.stringify(whole)}`]
      return whole.startsWith(early) && early.includes('up\n') ? faults : [...faults, `the result is ${JSON.stringify(early)}`]
    },
  }
}

async function untilFinished({ observed: { stdout } }: ShellExecution): Promise<string> {
  const never = new AbortController().signal
  while (await stdout.changed(stdout.size(), never));
  return stdout.readFrom(0).text
}
