import { Argument, Command, CommanderError, InvalidArgumentError, Option } from 'commander'
import { COMPLETION_SHELLS, type CompletionShell, completionScript } from './completion.ts'
import type { CommandContext } from './context.ts'
import { EXIT_CODES_HELP, ExitCode } from './exit-codes.ts'
import { type GeneralFlags, type Io, LOG_LEVELS } from './io.ts'
import { packageVersion } from './package-version.ts'
import { Screen } from './screen.ts'

type Action<F> = (context: CommandContext, args: readonly string[], flags: F) => Promise<number>
type Dispatch = <F extends object>(load: () => Promise<Action<F>>) => (args: readonly string[], flags: F) => Promise<void>

/** Runs the program; the result is its exit code. Commands are imported when they are used: `--help` needs none of them. */
export async function main(argv: readonly string[], io: Io): Promise<number> {
  let status: number = ExitCode.ok
  const program = new Command('tenon')
  const dispatch: Dispatch = (load) => async (args, flags) => {
    const general: GeneralFlags = program.opts()
    const context: CommandContext = { io, screen: new Screen(io, general), flags: general }
    try {
      status = await (await load())(context, args, flags)
    } catch (error) {
      const { tellFailure } = await import('./failure.ts')
      const json = 'json' in flags && flags.json === true
      status = tellFailure(error, context.screen, { json, debug: general.debug === true, cwd: io.cwd })
    }
  }
  describe(program, io)
  addCommands(program, dispatch)
  try {
    await program.parseAsync([...argv], { from: 'user' })
    return status
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error
    return error.exitCode === 0 ? ExitCode.ok : ExitCode.usage
  }
}

function describe(program: Command, io: Io): void {
  program
    .description('A plugin-composed runtime for agents: runs, checks and edits compositions of plugins.')
    .version(packageVersion(), '-V, --version', 'print the version')
    .helpOption('-h, --help', 'print help')
    .addOption(new Option('--log-level <level>', 'the lowest level that is logged (default: warn)').choices(LOG_LEVELS).argParser(logLevel))
    .option('--quiet', 'print results and errors only')
    .option('--no-color', 'print without colours, as NO_COLOR does')
    .option('--debug', 'print stack traces with errors')
    .configureHelp({ showGlobalOptions: true })
    .configureOutput({ writeOut: (text) => void io.stdout.write(text), writeErr: (text) => void io.stderr.write(text) })
    .showHelpAfterError('(--help lists what there is)')
    .addHelpText('after', `\n${EXIT_CODES_HELP}`)
    .exitOverride()
}

function addCommands(program: Command, dispatch: Dispatch): void {
  composition(program.command('run'))
    .description('open a composition and its console: a prompt on a terminal, else one command per line of standard input')
    .argument('[catalog]', CATALOG)
    .option('--watch', 'apply changes of catalog files and of plugins given by path as they are written')
    .action(dispatchOne(dispatch(async () => (await import('./commands/run.ts')).run)))
  composition(program.command('call'))
    .description('boot, call one tool, print its result, follow the jobs it left running to their end, close')
    .usage('[options] [catalog] TOOL [JSON]')
    .argument('[arguments...]', 'catalog file, name of the tool, and its arguments as JSON; - reads the JSON from standard input')
    .option('--json', 'print the structured value')
    .addHelpText('after', `\nExample:\n  tenon call bash '{"command":"echo hi","description":"say hi"}'\n\n${CALL_HELP}`)
    .action(dispatch(async () => (await import('./commands/call.ts')).call))
  composition(program.command('mcp'))
    .description('serve the tools of a composition over MCP to the client that started this program; logs go to standard error')
    .argument('[catalog]', CATALOG)
    .option('--watch', 'apply changes of catalog files and of plugins given by path as they are written')
    .addHelpText('after', MCP_HELP)
    .action(dispatchOne(dispatch(async () => (await import('./commands/mcp.ts')).mcp)))
  composition(program.command('check'))
    .description('report every fault of catalog files; nothing is activated')
    .argument('[catalogs...]', 'catalog files')
    .option('--json', 'print the report as JSON')
    .action(dispatch(async () => (await import('./commands/check.ts')).check))
  composition(program.command('graph'))
    .description('show rows, capabilities and bindings; nothing is activated')
    .argument('[catalog]', CATALOG)
    .addOption(new Option('--format <format>', 'how to print it').choices(['tree', 'mermaid', 'json']).default('tree'))
    .action(dispatchOne(dispatch(async () => (await import('./commands/graph.ts')).graph)))
  program
    .command('plugins')
    .description('list the first-party plugins: what they provide and inject, and their options')
    .argument('[names...]', 'only these')
    .option('--json', 'print them as JSON, with their schemas')
    .action(dispatch(async () => (await import('./commands/plugins.ts')).plugins))
  program
    .command('schema')
    .description('print the JSON Schema of catalog files, for editors')
    .addHelpText('after', SCHEMA_HELP)
    .action((flags: object) => dispatch(async () => (await import('./commands/schema.ts')).schema)([], flags))
  const making = program.command('new').description('make something new')
  making
    .command('plugin')
    .description('make the package of a plugin: a provider, a tool that uses it, and tests, in a folder of its own')
    .argument('<name>', 'its package name, such as weather or @acme/weather; the last part names plugin, capability and folder')
    .action(dispatchOne(dispatch(async () => (await import('./commands/new-plugin.ts')).newPlugin)))
  program
    .command('completion')
    .description('print a script that makes a shell complete this program')
    .addArgument(new Argument('<shell>', 'the shell').choices(COMPLETION_SHELLS))
    .addHelpText('after', '\nExample:\n  source <(tenon completion bash)')
    .action((shell: CompletionShell, flags: object) => {
      const print: Action<object> = async ({ io }) => {
        io.stdout.write(completionScript(program, shell))
        return ExitCode.ok
      }
      return dispatch(async () => print)([], flags)
    })
  for (const group of [making, program]) addHelp(group)
}

/** That of commander says nothing of a name it does not know. */
function addHelp(group: Command): void {
  group
    .command('help')
    .description('print help for a command')
    .argument('[command...]', 'its name')
    .action(async (names: readonly string[]) => {
      let named = group
      for (const name of names) {
        const inner = named.commands.find((command) => command.name() === name)
        // Parsed as a command, it is told as one.
        if (inner === undefined) return void (await named.parseAsync([name], { from: 'user' }))
        named = inner
      }
      named.help()
    })
}

/** Here, so that it is wrong for every command, also for one that logs nothing. */
function logLevel(value: string): string {
  if (LOG_LEVELS.some((known) => known === value)) return value
  throw new InvalidArgumentError(`unknown log level "${value}"; levels: ${LOG_LEVELS.join(', ')}`)
}

const CALL_HELP = `Ends with 1 if the result is an error, or if a command or a job failed: an exit code that is not 0, a signal, a deadline.
What jobs print goes to standard output; with --json to standard error. Ctrl-C stops them.`

const SCHEMA_HELP = `
Example:
  tenon schema > tenon.schema.json
and as the first line of a catalog file:
  # yaml-language-server: $schema=./tenon.schema.json`

const MCP_HELP = `
In a client's configuration:
  { "mcpServers": { "tenon": { "command": "tenon", "args": ["mcp", "/path/to/tenon.yaml"] } } }`

const CATALOG = 'catalog file (default: ./tenon.yaml, else the built-in default composition)'

/** The flags that lay an edit over a catalog file. */
function composition(command: Command): Command {
  const collect = (value: string, before: readonly string[] = []): readonly string[] => [...before, value]
  const setting = (value: string, before?: readonly string[]): readonly string[] => {
    if (!/^[^.=]+\.[^=]+=/.test(value)) throw new InvalidArgumentError('Write it like shell.timeoutMs=60000.')
    return collect(value, before)
  }
  return command
    .option('--set <row.path=value>', "set one value of a row's config (repeatable)", setting)
    .option('--enable <row>', 'put a disabled row in (repeatable)', collect)
    .option('--disable <row>', 'take a row out (repeatable)', collect)
}

/** For a command with at most one argument. */
function dispatchOne<F>(action: (args: readonly string[], flags: F) => Promise<void>) {
  return (argument: string | undefined, flags: F): Promise<void> => action(argument === undefined ? [] : [argument], flags)
}
