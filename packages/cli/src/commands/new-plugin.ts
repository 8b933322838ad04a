import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { describePlugins } from '@tenon/runtime'
import type { CommandContext } from '../context.ts'
import { ExitCode } from '../exit-codes.ts'
import { installSteps } from '../install-steps.ts'
import { newPlugin as make, NewPluginError } from '../new-plugin.ts'
import { packageVersion } from '../package-version.ts'
import { UsageError } from '../usage-error.ts'

const ownFolder = fileURLToPath(new URL('../..', import.meta.url))

/** The package of a plugin, in a folder of its own below the working directory. */
export async function newPlugin({ io, screen }: CommandContext, [name = '']: readonly string[]): Promise<number> {
  const taken = await takenNames()
  const last = name.slice(name.lastIndexOf('/') + 1)
  const by = taken.get(last)
  if (by !== undefined) throw new UsageError(`"${last}" is ${by}; choose another name`)
  const install = installSteps(ownFolder)
  try {
    const made = await make({ name, parent: io.cwd, version: packageVersion(), install })
    screen.print(`${screen.paint('green', 'made')} ${made.name}${path.sep}: a plugin that provides "${made.name}", and a tool that uses it`)
    for (const file of made.files) screen.note(`  ${file}`)
    const steps = [`cd ${made.name}`, ...install, 'npm test', `npx tenon call ${made.tool} '{"who":"Ada"}'`]
    screen.print(`\nnext:\n${steps.map((step) => `  ${step}`).join('\n')}`)
    return ExitCode.ok
  } catch (error) {
    if (error instanceof NewPluginError && error.code === 'PLUGIN_NAME_INVALID') throw new UsageError(error.message)
    throw error
  }
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
