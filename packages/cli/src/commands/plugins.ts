import { didYouMean } from '@tenon/kernel'
import { describePlugins, type PluginReference } from '@tenon/runtime'
import type { CommandContext } from '../context.ts'
import { ExitCode } from '../exit-codes.ts'
import { optionsOf } from '../option-table.ts'
import type { Screen } from '../screen.ts'
import { plainText, printableJson } from '../terminal-text.ts'
import { UsageError } from '../usage-error.ts'

/** First-party plugins: what each provides and injects, and every option with its default. */
export async function plugins({ screen }: CommandContext, args: readonly string[], flags: { readonly json?: boolean }): Promise<number> {
  const all = await describePlugins()
  for (const name of args) if (!all.some((plugin) => plugin.name === name)) throw unknown(name, all)
  const chosen = args.length === 0 ? all : all.filter(({ name }) => args.includes(name))
  if (flags.json === true) screen.print(printableJson(chosen, 2))
  else screen.print(chosen.map((plugin) => text(plugin, screen)).join('\n\n'))
  return chosen.some(({ error }) => error !== undefined) ? ExitCode.failed : ExitCode.ok
}

function unknown(name: string, all: readonly PluginReference[]): UsageError {
  const names = all.map((plugin) => plugin.name)
  const meant = didYouMean(name, names)
  return new UsageError(
    `there is no first-party plugin "${name}"; ${meant === undefined ? `there are ${names.join(', ')}` : `did you mean "${meant}"?`}`,
  )
}

function text({ name, provides, injects, config, error }: PluginReference, screen: Screen): string {
  const title = screen.paint('bold', name)
  if (error !== undefined) return `${title}\n  ${screen.paint('red', plainText(error))}`
  const list = (label: string, keys: readonly string[]): readonly string[] => (keys.length === 0 ? [] : [`  ${label} ${keys.join(', ')}`])
  const options = config === undefined ? [] : optionsOf(config)
  const width = (of: (option: (typeof options)[number]) => string): number => Math.max(0, ...options.map((option) => of(option).length))
  const [paths, types] = [
    width(({ path }) => path),
    Math.min(
      32,
      width(({ type }) => type),
    ),
  ]
  const lines = options.map(({ path, type, required, default: fallback, description = '' }) => {
    const given = fallback === undefined ? (required ? 'required' : '') : `= ${fallback}`
    return `    ${path.padEnd(paths)}  ${type.padEnd(types)}  ${[given, screen.paint('dim', plainText(description))].filter(Boolean).join('  ')}`.trimEnd()
  })
  return [title, ...list('provides', provides), ...list('injects ', injects), ...(lines.length === 0 ? [] : ['  options', ...lines])].join('\n')
}
