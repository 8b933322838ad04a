import { Jobs } from '@tenon/jobs'
import type { Runtime } from '@tenon/runtime'
import { openSession, type Session } from '@tenon/session'
import type { ShellResult } from '@tenon/shell'
import { Tools } from '@tenon/tools'
import { takeCatalog } from '../catalog-argument.ts'
import { commandStatus } from '../command-status.ts'
import type { CommandContext, CompositionFlags } from '../context.ts'
import { ExitCode } from '../exit-codes.ts'
import { messageOf } from '../failure.ts'
import { followJob } from '../follow-job.ts'
import { openHost } from '../host.ts'
import type { Screen } from '../screen.ts'
import { plainText, printableJson } from '../terminal-text.ts'
import { contentText, resultJson } from '../tool-output.ts'
import { UsageError } from '../usage-error.ts'

/** Boots, calls one tool, prints its result, follows the jobs it left running to their end, closes. */
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
  if (result.isError) return ExitCode.failed
  for (const file of spillsOf(result.value)) screen.note(plainText(`${file} is removed now: redirect the output to a file of your own to keep it`))
  const allWell = await followRest(host.runtime, session, (text) => (flags.json === true ? io.stderr : io.stdout).write(text), screen)
  return allWell && commandStatus(result.value) === 0 ? ExitCode.ok : ExitCode.failed
}

/** Closing would stop the jobs that the tool left running: they are followed to their end first. True if none went wrong. */
async function followRest(runtime: Runtime, session: Session, write: (text: string) => void, screen: Screen): Promise<boolean> {
  const jobs = runtime.get(Jobs)
  let allWell = true
  for (const { id } of jobs?.list(session).filter(({ status }) => status === 'running' || status === 'stopping') ?? []) {
    screen.note(`following ${id} to its end; Ctrl-C stops it`)
    // What the tool has told of its output is not told again.
    const from = jobs?.readAt(id, 'unread', session, 4).from
    const job = jobs && (await followJob(jobs, id, { signal: session.scope.signal, write, ...(from !== undefined && { from }) }))
    allWell &&= job?.status === 'completed' && (job.detail.exitCode ?? 0) === 0
  }
  return allWell
}

/** Files of complete output that a shell tool names beside a shortened one. They live as long as the composition. */
function spillsOf(value: unknown): readonly string[] {
  const { stdout, stderr } = (value ?? {}) as Partial<Pick<ShellResult, 'stdout' | 'stderr'>>
  return [stdout, stderr].flatMap((stream) => (typeof stream?.spillPath === 'string' ? [stream.spillPath] : []))
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
