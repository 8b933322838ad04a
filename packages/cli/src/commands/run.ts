import { takeCatalog } from '../catalog-argument.ts'
import { Console } from '../console/console.ts'
import { runScript } from '../console/script.ts'
import { Terminal } from '../console/terminal.ts'
import type { CommandContext, CompositionFlags } from '../context.ts'
import { followEdits } from '../edit-news.ts'
import { openHost } from '../host.ts'
import { plainText } from '../terminal-text.ts'
import { UsageError } from '../usage-error.ts'

/** Opens the runtime and the console. */
export async function run(context: CommandContext, args: readonly string[], flags: CompositionFlags & { readonly watch?: boolean }): Promise<number> {
  const { io, screen } = context
  const { catalog, rest } = takeCatalog(args, io.cwd)
  if (rest.length > 0) throw new UsageError(`"${rest[0]}" is not a catalog file: its name ends in .yaml, .yml or .json`)
  const terminal = io.stdin.isTTY === true && io.stdout.isTTY === true ? new Terminal(context) : undefined
  const showLog = terminal === undefined ? {} : { showLog: (line: string) => terminal.interject(line) }
  await using host = await openHost(context, { catalog, flags, ...showLog })
  const { runtime } = host
  const tell = (text: string): void => (terminal === undefined ? screen.note(text) : terminal.interject(text))
  const warn = (text: string): void => (terminal === undefined ? screen.complain(text) : terminal.interject(text))
  followEdits(runtime, context, { tell, warn })
  const console = new Console({ runtime, screen, cwd: io.cwd, sessionId: `console-${io.pid}`, tell: (text) => tell(plainText(text)) })
  for (const name of console.hiddenTools) warn(plainText(`the tool "${name}" cannot be called here: the console has a command of that name`))
  // Awaited here: the host closes when this function is left.
  return await (terminal === undefined ? runScript(context, console) : terminal.run(console))
}
