import { catalogJsonSchema } from '@tenon/runtime'
import type { CommandContext } from '../context.ts'
import { ExitCode } from '../exit-codes.ts'
import { printableJson } from '../terminal-text.ts'

/** JSON Schema of catalog files. */
export async function schema({ screen }: CommandContext): Promise<number> {
  screen.print(printableJson(await catalogJsonSchema(), 2))
  return ExitCode.ok
}
