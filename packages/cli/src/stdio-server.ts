import { readFileSync } from 'node:fs'
import { firstParty } from '@tenon/catalog'
import { type AnyPlugin, type Cause, capability, definePlugin, type Kernel } from '@tenon/kernel'
import { type Composition, type CompositionRow, type Diagnostic, NotActiveError, type Position, type Runtime } from '@tenon/runtime'
import type { Io } from './io.ts'
import { UsageError } from './usage-error.ts'

/** Rows of the program itself. No catalog can have a row of such an id, so no edit of one meets them. */
const OWN = { server: 'tenon:mcp', streams: 'tenon:standard-streams' } as const

/** What @tenon/plugin-mcp-server declares: capabilities are equal by key. */
interface StandardStreams {
  readonly row: string
  readonly process: Pick<Io, 'stdin' | 'stdout' | 'stderr'>
  released(by: 'client' | 'row'): void
}
const StandardStreams = capability<StandardStreams>('standard-streams')

/** Rows of a composition that serve MCP to whoever is given standard input and output. There can be one: a process has these once. */
export function stdioServers({ rows }: Pick<Composition, 'rows'>): readonly CompositionRow[] {
  return rows.filter(({ state, loaded, config }) => {
    const transport = typeof config === 'object' && config !== null && 'transport' in config ? config.transport : 'stdio'
    return state === 'active' && loaded?.plugin.name === 'mcp-server' && transport === 'stdio'
  })
}

/** A second row would never be served: which of the two a client meets is nobody's choice. */
export function stdioFaults(composition: Composition): readonly Diagnostic[] {
  const servers = stdioServers(composition)
  const [first, ...others] = servers.toSorted((a, b) => Number(a.position.file === composition.file) - Number(b.position.file === composition.file))
  if (first === undefined) return []
  return others.map(({ id, use, position }) => ({
    severity: 'error',
    code: 'CAPABILITY_TAKEN',
    message: `rows "${first.id}" and "${id}" both serve MCP over standard input and output, which a process has once`,
    hint: `write its options below "${first.id}", take one of the two out, or set transport: http`,
    row: id,
    ...position,
    endColumn: position.column + use.length,
    source: lineOf(position),
  }))
}

/**
 * Gives standard input and output to the row of the composition that serves over them, or to one of the program's own; to no other, whatever
 * edits bring. `over` resolves when the session has ended; that the row has ended it, by an edit, is told.
 * @throws NotActiveError
 */
export async function serveStandardStreams(
  { kernel, composition }: Runtime,
  process: StandardStreams['process'],
  tell: (text: string) => void,
): Promise<{ readonly over: Promise<void> }> {
  const row = stdioServers(composition)[0]?.id ?? OWN.server
  let end = (): void => undefined
  const over = new Promise<void>((resolve) => {
    end = resolve
  })
  const released = (by: 'client' | 'row'): void => {
    if (by === 'row' && !kernel.scope.closed) tell(`the row "${row}" serves standard input and output no more: the session is over`)
    end()
  }
  const streams = definePlugin({
    name: 'standard-streams',
    provides: [StandardStreams],
    activate: (scope) => scope.provide(StandardStreams, { row, process, released }),
  })
  kernel.load(streams, undefined, { id: OWN.streams })
  if (row === OWN.server) kernel.load(await serverPlugin(), undefined, { id: row })
  await kernel.settled()
  if (kernel.row(row)?.phase !== 'active') throw notServed(kernel.explain(row), composition)
  tellOfWaiting(kernel, row, tell)
  return { over }
}

/** A client that gets no answer should find the reason in its log. */
function tellOfWaiting(kernel: Kernel, id: string, tell: (text: string) => void): void {
  const isWaiting = (): boolean => kernel.row(id)?.phase === 'waiting'
  kernel.events.on(kernel.scope, (event) => {
    if (event.type !== 'phase' || event.row !== id || event.phase !== 'waiting') return
    void kernel.settled().then(() => {
      if (isWaiting()) tell(`${kernel.explain(id).message}; what the client says waits as long`)
    })
  })
}

async function serverPlugin(): Promise<AnyPlugin> {
  const server = firstParty.find(({ name }) => name === 'mcp-server')
  if (server === undefined) throw new UsageError('this installation has no plugin "mcp-server"')
  return (await server.load()).default as AnyPlugin
}

function notServed(cause: Cause, { file, rows }: Composition): NotActiveError {
  const fix = cause.capability === 'tools' ? '; it has no tools: add the row `tools: tools`, or `extends: default`' : ''
  return new NotActiveError(`${file} cannot be served over MCP${fix}`, [cause], rows)
}

function lineOf({ file, line }: Position): string {
  try {
    return readFileSync(file, 'utf8').split(/\r?\n/)[line - 1] ?? ''
  } catch {
    return ''
  }
}
