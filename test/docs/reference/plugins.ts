import type { PluginReference } from '@tenon/runtime'
import { optionsOf } from '../../../packages/cli/src/option-table.ts'
import { code, page, table } from './page.ts'

/** The first-party plugins and all their options. */
export function pluginsPage(plugins: readonly PluginReference[]): string {
  const introduction = 'What a catalog file may name by one word. Options stand under `with`; `tenon plugins NAME` prints the same.'
  return page('Plugins', introduction, plugins.map(section))
}

function section({ name, package: from = '', provides, injects, config }: PluginReference): string {
  const keys = (list: readonly string[]): string => (list.length === 0 ? 'nothing' : list.map(code).join(', '))
  const options = config === undefined ? [] : optionsOf(config)
  const rows = options.map(({ path, type, required, default: fallback, description = '' }) => [
    code(path),
    code(type),
    fallback === undefined ? (required ? 'required' : '') : code(fallback),
    description,
  ])
  const parts = [`## ${name}`, `${code(from)} provides ${keys(provides)}, and injects ${keys(injects)}.`]
  return [...parts, rows.length === 0 ? 'It has no options.' : table(['option', 'type', 'default', ''], rows)].join('\n\n')
}
