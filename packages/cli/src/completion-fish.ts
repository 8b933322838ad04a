import { type CompletedCommand, withSubcommands } from './completed-command.ts'

/** Functions of fish that tell commands from arguments take the value of an option for a command: this script counts itself. */
export function completionFish(root: CompletedCommand): string {
  const all = withSubcommands(root)
  const commands = all.filter(({ path }) => path !== '').map(({ path }) => path)
  const valued = new Set(all.flatMap(({ options }) => options.filter(({ takesValue }) => takesValue).map(({ flag }) => flag)))
  return `function __tenon_at
    set -l command ""
    set -l at 0
    set -l value no
    set -l before (commandline -opc)
    for word in $before[2..-1]
        if test $value = yes
            set value no
            continue
        end
        switch $word
            case ${[...valued].join(' ')}
                set value yes
            case '-*'
            case '*'
                if contains -- "$command/$word" ${commands.join(' ')}
                    set command "$command/$word"
                    set at 0
                else
                    set at (math $at + 1)
                end
        end
    end
    test "$command" = "$argv[1]"; and begin
        test (count $argv) -lt 2; or test $at = $argv[2]
    end
end
complete -c tenon -f
${all.flatMap((command) => completions(command)).join('\n')}
`
}

function completions({ path, subcommands, options, arguments: own }: CompletedCommand): readonly string[] {
  const at = (place?: number): string => `complete -c tenon -n ${quoted(`__tenon_at "${path}"${place === undefined ? '' : ` ${place}`}`)}`
  return [
    ...subcommands.map((inner) => `${at(0)} -a ${inner.path.slice(path.length + 1)} -d ${quoted(inner.summary)}`),
    ...own.flatMap(({ words, files, repeats }, place) => {
      const where = at(repeats ? undefined : place)
      return [...(words.length > 0 ? [`${where} -a ${quoted(words.join(' '))}`] : []), ...(files ? [`${where} -F`] : [])]
    }),
    ...options.map(({ flag, takesValue, choices }) => {
      const value = takesValue ? ` -x${choices.length > 0 ? ` -a ${quoted(choices.join(' '))}` : ''}` : ''
      // An option of the program may stand behind any command.
      return `${path === '' ? 'complete -c tenon' : at()} -l ${flag.slice(2)}${value}`
    }),
  ]
}

function quoted(text: string): string {
  return `'${text.replace(/[\\']/g, '\\$&')}'`
}
