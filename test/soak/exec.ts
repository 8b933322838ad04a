import { parseArgs } from 'node:util'
import { Soak } from './exec/soak.ts'

/*
 * Commands of every kind through the bash executor on local processes, for long, each judged by what it must come to.
 *
 *   npm run soak -- exec [--commands 20000] [--minutes 10] [--seed N] [--first N] [--concurrency 12]
 *
 * Ends after so many commands, or so many minutes. Each command follows from the seed and its number alone: `--first` begins with
 * that number. Exit code 1 for any wrong fact and for anything that was not given back.
 */
const { values } = parseArgs({
  options: {
    commands: { type: 'string', default: '20000' },
    minutes: { type: 'string', default: '10' },
    seed: { type: 'string', default: String(Date.now() % 2 ** 31) },
    first: { type: 'string', default: '0' },
    concurrency: { type: 'string', default: '12' },
  },
})

const soak = new Soak({
  commands: whole('commands', values.commands),
  minutes: whole('minutes', values.minutes),
  seed: whole('seed', values.seed),
  first: whole('first', values.first),
  concurrency: whole('concurrency', values.concurrency),
})
for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(name, () => soak.interrupt())
const faults = await soak.run()
if (faults > 0) process.exitCode = 1
else if (soak.interrupted) process.exitCode = 130

function whole(name: string, text: string): number {
  const value = Number(text)
  if (Number.isSafeInteger(value) && value >= (name === 'first' || name === 'seed' ? 0 : 1)) return value
  throw new Error(`--${name} is ${JSON.stringify(text)}; give a whole number`)
}
