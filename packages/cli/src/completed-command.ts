import type { Argument, Command, Option } from 'commander'

export interface CompletedOption {
  /** With its dashes. */
  readonly flag: string
  readonly takesValue: boolean
  /** Of its value; without them nothing is offered for it. */
  readonly choices: readonly string[]
}

/** What may stand in the place of one argument. */
export interface CompletedArgument {
  readonly words: readonly string[]
  readonly files: boolean
  /** In every place that follows, too. */
  readonly repeats: boolean
}

export interface CompletedCommand {
  /** `/new/plugin`; empty for the program. */
  readonly path: string
  readonly summary: string
  readonly subcommands: readonly CompletedCommand[]
  readonly options: readonly CompletedOption[]
  readonly arguments: readonly CompletedArgument[]
}

/** The command itself, and all below it. */
export function withSubcommands(command: CompletedCommand): readonly CompletedCommand[] {
  return [command, ...command.subcommands.flatMap(withSubcommands)]
}

/** @param path empty for the program */
export function describeCommand(command: Command, path: string): CompletedCommand {
  return {
    path,
    summary: command.description(),
    subcommands: command.commands.map((inner) => describeCommand(inner, `${path}/${inner.name()}`)),
    options: [...command.options.flatMap(completedOption), { flag: '--help', takesValue: false, choices: [] }],
    arguments: command.name() === 'help' ? [names(command.parent)] : command.registeredArguments.flatMap(completedArgument),
  }
}

function completedOption({ long, required, argChoices }: Option): readonly CompletedOption[] {
  return long === undefined || long === null ? [] : [{ flag: long, takesValue: required, choices: argChoices ?? [] }]
}

function completedArgument(argument: Argument): readonly CompletedArgument[] {
  const words = argument.argChoices ?? []
  // Those of `call`: a catalog file, and then a tool and its JSON.
  if (argument.name() === 'arguments') return [{ words, files: true, repeats: false }]
  return [{ words, files: argument.name().startsWith('catalog'), repeats: argument.variadic }]
}

function names(parent: Command | null): CompletedArgument {
  const others = parent?.commands.filter((command) => command.name() !== 'help') ?? []
  return { words: others.map((command) => command.name()), files: false, repeats: false }
}
