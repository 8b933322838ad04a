import { existsSync } from 'node:fs'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { describePlugins } from '@tenon/runtime'
import type { CommandContext } from '../context.ts'
import { ExitCode } from '../exit-codes.ts'
import { newPlugin as make, NewPluginError } from '../new-plugin.ts'
import { packageVersion } from '../package-version.ts'
import { UsageError } from '../usage-error.ts'

/** There in a checkout only. */
const packProgram = fileURLToPath(new URL('../../../../examples/pack.mjs', import.meta.url))

/** The package of a plugin, in a folder of its own below the working directory. */
export async function newPlugin({ io, screen }: CommandContext, [name = '']: readonly string[]): Promise<number> {
  const taken = await takenNames()
  const last = name.slice(name.lastIndexOf('/') + 1)
  const by = taken.get(last)
  if (by !== undefined) throw new UsageError(`"${last}" is ${by}; choose another name`)
  try {
    const made = await make({ name, parent: io.cwd, version: packageVersion() })
    screen.print(`${screen.paint('green', 'made')} ${made.name}${path.sep}: a plugin that provides "${made.name}", and a tool that uses it`)
    for (const file of made.files) screen.note(`  ${file}`)
    const first = installSteps(packProgram)
    screen.print(`\nnext:\n  cd ${made.name}\n${first}  npm test\n  npx tenon call ${made.tool} '{"who":"Ada"}'`)
    return ExitCode.ok
  } catch (error) {
    if (error instanceof NewPluginError && error.code === 'PLUGIN_NAME_INVALID') throw new UsageError(error.message)
    throw error
  }
}

/** Run out of a checkout, whose packages no registry has: they are packed, and installed as files. */
export function installSteps(pack: string): string {
  if (!existsSync(pack)) return '  npm install\n'
  const quoted = (file: string): string => (/^[\w./-]+$/.test(file) ? file : JSON.stringify(file))
  const tarballs = path.join(path.dirname(path.dirname(pack)), '.cache', 'packed')
  return `  node ${quoted(pack)}\n  npm install --save-dev ${quoted(tarballs)}/*.tgz\n`
}

/** Two rows of one name or two providers of one capability would not go together. */
async function takenNames(): Promise<ReadonlyMap<string, string>> {
  const plugins = await describePlugins()
  const keys = plugins.flatMap(({ provides, injects }) => [...provides, ...injects])
  return new Map([
    ...keys.map((key) => [key, 'the key of a capability that there is'] as const),
    ...plugins.map(({ name }) => [name, 'the name of a first-party plugin'] as const),
  ])
}
