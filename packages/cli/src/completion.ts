import type { Command } from 'commander'

export const COMPLETION_SHELLS = ['bash', 'zsh', 'fish'] as const
export type CompletionShell = (typeof COMPLETION_SHELLS)[number]

interface Words {
  readonly name: string
  readonly summary: string
  readonly subcommands: readonly string[]
  readonly options: readonly string[]
}

/** A script that makes a shell complete the program's commands and options; catalogs are completed as files. */
export function completionScript(program: Command, shell: CompletionShell): string {
  const general = longFlags(program)
  const commands = program.commands.map((command) => ({
    name: command.name(),
    summary: command.description(),
    subcommands: command.commands.map((subcommand) => subcommand.name()),
    options: [...longFlags(command), ...general],
  }))
  switch (shell) {
    case 'bash':
      return bash(commands, general)
    case 'zsh':
      return `autoload -U +X bashcompinit && bashcompinit\n${bash(commands, general)}`
    case 'fish':
      return fish(commands, general)
  }
}

function longFlags(command: Command): readonly string[] {
  return [...command.options.flatMap(({ long }) => long ?? []), '--help']
}

function bash(commands: readonly Words[], general: readonly string[]): string {
  const cases = commands.map(
    ({ name, subcommands, options }) =>
      `    ${name}) words="${[...subcommands, ...options].join(' ')}"${subcommands.length > 0 ? '; files=no' : ''} ;;`,
  )
  const names = commands.map(({ name }) => name)
  return `_tenon() {
  local current="\${COMP_WORDS[COMP_CWORD]}" command="" files="" word words
  for word in "\${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    case "$word" in -*) ;; *) command="$word"; break ;; esac
  done
  case "$command" in
    "") words="${[...names, 'help', ...general].join(' ')}" ;;
    help) words="${names.join(' ')}" ;;
${cases.join('\n')}
  esac
  COMPREPLY=($(compgen -W "$words" -- "$current"))
  [ -n "$command" ] && [ "$command" != help ] && [ -z "$files" ] && [ "\${current#-}" = "$current" ] && COMPREPLY=($(compgen -f -- "$current"))
  return 0
}
complete -o filenames -F _tenon tenon
`
}

function fish(commands: readonly Words[], general: readonly string[]): string {
  const quoted = (text: string): string => `'${text.replace(/[\\']/g, '\\$&')}'`
  const flag = (condition: string, option: string): string => `complete -c tenon -n ${quoted(condition)} -l ${option.slice(2)}`
  return [
    ...commands.map(({ name, summary }) => `complete -c tenon -f -n __fish_use_subcommand -a ${name} -d ${quoted(summary)}`),
    ...commands.flatMap(({ name, subcommands }) =>
      subcommands.map((subcommand) => `complete -c tenon -f -n ${quoted(`__fish_seen_subcommand_from ${name}`)} -a ${subcommand}`),
    ),
    ...general.map((option) => flag('__fish_use_subcommand', option)),
    ...commands.flatMap(({ name, options }) => options.map((option) => flag(`__fish_seen_subcommand_from ${name}`, option))),
    '',
  ].join('\n')
}
