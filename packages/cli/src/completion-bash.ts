import { type CompletedCommand, type CompletedOption, withSubcommands } from './completed-command.ts'

/** For bash from 3.2 on, and for what stands in for it in zsh: neither `mapfile` nor `compopt`. */
export function completionBash(root: CompletedCommand): string {
  const all = withSubcommands(root)
  const commands = all.filter(({ path }) => path !== '').map(({ path }) => path)
  const valued = uniqueFlags(all.flatMap(({ options }) => options).filter(({ takesValue }) => takesValue))
  const choices = all.flatMap(({ path, options }) => {
    // An option of the program may stand behind any command.
    const where = (flag: string): string => (path === '' ? `*" ${flag}"` : `"${path} ${flag}"`)
    return options.filter((option) => option.choices.length > 0).map(({ flag, choices }) => `      ${where(flag)}) words="${choices.join(' ')}" ;;`)
  })
  const options = all.map(({ path, options: own }) => `      "${path}") words="${flagsOf([...own, ...root.options])}" ;;`)
  return `_tenon() {
  local current="\${COMP_WORDS[COMP_CWORD]}" command="" at=0 option="" glued="" prefix="" words="" files="" word
  # Where a shell splits at "=" and ":", these are words of their own.
  for word in "\${COMP_WORDS[@]:1:$((COMP_CWORD - 1))}"; do
    if [ "$word" = "=" ] || [ "$word" = ":" ]; then glued=yes; continue; fi
    if [ -n "$glued$option" ]; then glued=""; option=""; continue; fi
    case "$word" in
      ${valued.join('|')}) option="$word" ;;
      -*) ;;
      *)
        case "$command/$word" in
          ${commands.join('|')}) command="$command/$word" at=0 ;;
          *) at=$((at + 1)) ;;
        esac ;;
    esac
  done
  case "$current" in
    =|:) current="" glued=yes ;;
    --*=*) option="\${current%%=*}" prefix="\${current%%=*}=" current="\${current#*=}" ;;
  esac
  if [ -n "$option" ]; then
    case "$command $option" in
${choices.join('\n')}
    esac
  elif [ -n "$glued" ]; then
    :
  elif [ "\${current#-}" != "$current" ]; then
    case "$command" in
${options.join('\n')}
    esac
  else
    case "$command:$at" in
${all.flatMap(places).join('\n')}
    esac
  fi
  COMPREPLY=()
  while IFS= read -r word; do
    [ -n "$word" ] && COMPREPLY+=("$word")
  done <<< "$(
    [ -n "$words" ] && compgen -P "$prefix" -W "$words" -- "$current"
    [ -n "$files" ] && current="\${current//\\\\/}" && current="\${current#[\\"\\']}" && compgen -f -- "$current"
  )"
  return 0
}
complete -o filenames -F _tenon tenon
`
}

function places({ path, subcommands, arguments: own }: CompletedCommand): readonly string[] {
  const names = subcommands.map((inner) => inner.path.slice(path.length + 1)).join(' ')
  const first = names === '' ? [] : [`      "${path}:0") words="${names}" ;;`]
  return [
    ...first,
    ...own.flatMap(({ words, files, repeats }, place) => {
      const set = [...(words.length > 0 ? [`words="${words.join(' ')}"`] : []), ...(files ? ['files=yes'] : [])]
      return set.length === 0 ? [] : [`      "${path}:"${repeats ? '*' : place}) ${set.join(' ')} ;;`]
    }),
  ]
}

function uniqueFlags(options: readonly CompletedOption[]): readonly string[] {
  return [...new Set(options.map(({ flag }) => flag))]
}

function flagsOf(options: readonly CompletedOption[]): string {
  return uniqueFlags(options).join(' ')
}
