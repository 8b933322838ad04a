import { openSession } from '@tenon/session'
import { Tools } from '@tenon/tools'
import { takeCatalog } from '../catalog-argument.ts'
import type { CommandContext, CompositionFlags } from '../context.ts'
import { ExitCode } from '../exit-codes.ts'
import { messageOf } from '../failure.ts'
import { openHost } from '../host.ts'
import { plainText, printableJson } from '../terminal-text.ts'
import { contentText, resultJson } from '../tool-output.ts'
import { UsageError } from '../usage-error.ts'

/** Boots, calls one tool, prints its result, closes. */
export async function call(context: CommandContext, args: readonly string[], flags: CompositionFlags & { readonly json?: boolean }): Promise<number> {
  const { io, screen } = context
  const { catalog, rest } = takeCatalog(args, io.cwd)
  const [name, json, ...extra] = rest
  if (name === undefined) throw new UsageError('name the tool to call: tenon call [catalog] TOOL [JSON]')
  if (extra.length > 0) throw new UsageError(`too many arguments: put the JSON in quotes, as one argument`)
  const toolArguments = readJson(json === '-' ? await readAll(io.stdin) : (json ?? '{}'))
  await using host = await openHost(context, { catalog, flags })
  const tools = host.runtime.get(Tools)
  if (tools === undefined) throw new UsageError(`the composition "${host.runtime.composition.name}" has no tools: add a row for the plugin "tools"`)
  const session = openSession(host.runtime.kernel.scope, { id: `call-${io.pid}`, cwd: io.cwd })
  const result = await tools.execute({ name, arguments: toolArguments, session, signal: session.scope.signal })
  if (flags.json === true) screen.print(printableJson(resultJson(result), 2))
  else if (result.isError) screen.complain(plainText(contentText(result.content)).trimEnd())
  else screen.printUntrusted(contentText(result.content))
  return result.isError ? ExitCode.failed : ExitCode.ok
}

function readJson(text: string): unknown {
  try {
    return JSON.parse(text) as unknown
  } catch (error) {
    throw new UsageError(`the arguments of the tool are not JSON: ${messageOf(error)}`)
  }
}

async function readAll(stream: AsyncIterable<string | Buffer>): Promise<string> {
  const chunks: Buffer[] = []
  for await (const chunk of stream) chunks.push(Buffer.from(chunk))
  return Buffer.concat(chunks).toString('utf8')
}
