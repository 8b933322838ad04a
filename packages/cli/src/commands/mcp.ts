import type { Writable } from 'node:stream'
import { compositions } from '@tenon/catalog'
import { CompositionError } from '@tenon/runtime'
import { takeCatalog } from '../catalog-argument.ts'
import type { CommandContext, CompositionFlags } from '../context.ts'
import { followEdits } from '../edit-news.ts'
import { ExitCode } from '../exit-codes.ts'
import { openHost } from '../host.ts'
import { serveStandardStreams, stdioFaults } from '../stdio-server.ts'
import { plainText } from '../terminal-text.ts'
import { UsageError } from '../usage-error.ts'

/** Serves the tools of a composition over MCP, until the client goes away. */
export async function mcp(context: CommandContext, args: readonly string[], flags: CompositionFlags & { readonly watch?: boolean }): Promise<number> {
  const { io, screen } = context
  const { catalog: taken, rest } = takeCatalog(args, io.cwd)
  const catalog = taken === compositions.default ? compositions.mcp : taken
  if (rest.length > 0) throw new UsageError(`"${rest[0]}" is not a catalog file: its name ends in .yaml, .yml or .json`)
  keepForProtocol(io.stdout, io.stderr, (error) => screen.outputLost(error))
  await using host = await openHost(context, {
    catalog,
    flags,
    endsWithOutput: false,
    checked: (composition) => {
      const faults = stdioFaults(composition)
      if (faults.length > 0) throw new CompositionError(composition.file, faults)
    },
  })
  const { runtime } = host
  followEdits(runtime, context, { tell: (text) => screen.note(text), warn: (text) => screen.complain(text) })
  const { over } = await serveStandardStreams(runtime, io, (text) => screen.complain(plainText(text)))
  screen.note(`serving "${runtime.composition.name}" over MCP`)
  await over
  return ExitCode.ok
}

/**
 * From before the first plugin is loaded until the program ends, what is written to standard output goes to standard error: the server
 * writes past this. And a reader that left, of either stream, ends the session in order, in place of the whole program on the spot.
 */
function keepForProtocol(stdout: Writable, stderr: Writable, lost: (error: NodeJS.ErrnoException) => void): void {
  stdout.write = stderr.write.bind(stderr)
  stdout.removeAllListeners('error')
  stdout.on('error', lost)
  stderr.on('error', () => undefined)
}
