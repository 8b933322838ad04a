import type { Writable } from 'node:stream'
import { compositions, firstParty } from '@tenon/catalog'
import type { AnyPlugin } from '@tenon/kernel'
import { NotActiveError, type Runtime } from '@tenon/runtime'
import { takeCatalog } from '../catalog-argument.ts'
import type { CommandContext, CompositionFlags } from '../context.ts'
import { ExitCode } from '../exit-codes.ts'
import { openHost } from '../host.ts'
import { UsageError } from '../usage-error.ts'

/** Serves the tools of a composition over MCP, until the client goes away. */
export async function mcp(context: CommandContext, args: readonly string[], flags: CompositionFlags & { readonly watch?: boolean }): Promise<number> {
  const { io, screen } = context
  const { catalog: taken, rest } = takeCatalog(args, io.cwd)
  const catalog = taken === compositions.default ? compositions.mcp : taken
  if (rest.length > 0) throw new UsageError(`"${rest[0]}" is not a catalog file: its name ends in .yaml, .yml or .json`)
  keepForProtocol(io.stdout, io.stderr)
  // The client has closed its end, or the server gave the input up. Closing waits for answers that are due.
  const over = new Promise<void>((resolve) => io.stdin.once('close', resolve))
  await using host = await openHost(context, { catalog, flags, endsWithOutput: false })
  const { runtime } = host
  if (!runtime.composition.rows.some(servesStdio)) await addServer(runtime)
  screen.note(`serving "${runtime.composition.name}" over MCP`)
  await over
  return ExitCode.ok
}

/**
 * From before the first plugin is loaded until the program ends, what is written to standard output goes to standard error: the server
 * writes past this. And a reader that left, of either stream, ends the session in order, in place of the whole program on the spot.
 */
function keepForProtocol(stdout: Writable, stderr: Writable): void {
  stdout.write = stderr.write.bind(stderr)
  stdout.removeAllListeners('error')
  for (const stream of [stdout, stderr]) stream.on('error', () => undefined)
}

function servesStdio({ state, loaded, config }: Runtime['composition']['rows'][number]): boolean {
  const transport = typeof config === 'object' && config !== null && 'transport' in config ? config.transport : 'stdio'
  return state === 'active' && loaded?.plugin.name === 'mcp-server' && transport === 'stdio'
}

/** A row of the kernel alone: edits of the catalog file leave it as it is. */
async function addServer({ kernel, composition }: Runtime): Promise<void> {
  const server = firstParty.find(({ name }) => name === 'mcp-server')
  if (server === undefined) throw new UsageError('this installation has no plugin "mcp-server"')
  const { default: plugin } = await server.load()
  const taken = new Set(composition.rows.map(({ id }) => id))
  let id = 'mcp'
  while (taken.has(id)) id = `${id}-stdio`
  const row = kernel.load(plugin as AnyPlugin, undefined, { id })
  await row.ready().catch((error: unknown) => {
    if (row.phase !== 'waiting') throw error
    throw new NotActiveError(`${composition.file} cannot be served over MCP`, [kernel.explain(id)])
  })
}
