import type { FirstPartyPlugin } from '@tenon/catalog'
import { capability, definePlugin } from '@tenon/kernel'
import { pino } from 'pino'
import { onTestFinished } from 'vitest'
import { openRuntime, type Runtime, type RuntimeOptions } from '../src/index.ts'
import { type Folder, folder } from './folder.ts'

export const quiet = pino({ level: 'silent' })

export type Journal = string[]
export const Journal = capability<Journal>('journal')

/** A plugin that provides the array as `journal`: what other plugins write there tells what ran. */
export function journalPlugin(journal: Journal): FirstPartyPlugin {
  const plugin = definePlugin({
    name: 'journal',
    provides: [Journal],
    activate: (scope) => scope.provide(Journal, journal),
  })
  return { name: 'journal', load: async () => ({ default: plugin }) }
}

export interface SourceOptions {
  readonly needs?: string
  readonly offers?: string
  /** A word the code carries, to tell one version from another. */
  readonly version?: string
  readonly body?: string
  readonly config?: string
}

/** The source of a plugin that notes its activations and closings in the journal. */
export function noting(
  name: string,
  { needs, offers, version = '1', body = '', config = 'z.strictObject({ n: z.number().default(0) }).prefault({})' }: SourceOptions = {},
): string {
  return `import { capability, definePlugin } from '@tenon/kernel'
import { z } from 'zod'
const Journal = capability<string[]>('journal')
const needs = [Journal${needs === undefined ? '' : `, capability<object>('${needs}')`}] as const
const offers = [${offers === undefined ? '' : `capability<object>('${offers}')`}]
export default definePlugin({
  name: '${name}',
  inject: needs,
  provides: offers,
  config: ${config},
  async activate(scope, journal) {
    journal.push('${name} v${version} up ' + JSON.stringify(scope.config))
    scope.defer(() => { journal.push('${name} v${version} down') })
    for (const offer of offers) scope.provide(offer, {})
    ${body}
  },
})
`
}

export interface Opened {
  readonly dir: Folder
  readonly journal: Journal
  readonly runtime: Runtime
  /** What was noted since the last time. */
  news(): readonly string[]
}

/** A runtime over a folder of files, `top.yaml` its catalog; closed when the test ends. */
export async function open(files: Readonly<Record<string, string>>, options: Partial<RuntimeOptions> = {}): Promise<Opened> {
  const dir = await folder(files)
  const journal: Journal = []
  const runtime = await openRuntime({ catalog: dir.file('top.yaml'), firstParty: [journalPlugin(journal)], logger: quiet, ...options })
  onTestFinished(() => runtime.close())
  return { dir, journal, runtime, news: () => journal.splice(0) }
}
