import { createInterface } from 'node:readline'
import type { CommandContext } from '../context.ts'
import { ExitCode } from '../exit-codes.ts'
import { tellFailure } from '../failure.ts'
import type { Console } from './console.ts'

/** Carries out standard input, one console command per line, each after the end of the one before. The status is that of the last. */
export async function runScript({ io, screen, flags }: CommandContext, console: Console): Promise<number> {
  let status: number = ExitCode.ok
  for await (const line of createInterface({ input: io.stdin, crlfDelay: Number.POSITIVE_INFINITY })) {
    try {
      const outcome = await console.execute(line)
      if (outcome.quit) break
      status = outcome.status ?? status
    } catch (error) {
      tellFailure(error, screen, { debug: flags.debug === true, cwd: io.cwd })
      status = ExitCode.failed
    }
  }
  return status
}
