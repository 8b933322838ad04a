import type { Activation } from './activation.ts'
import type { Phase } from './row.ts'
import type { ForkUnit, RowUnit, Slot, World } from './world.ts'

export interface ForkReport {
  readonly needs: readonly string[]
  readonly branch: 'present' | 'otherwise' | 'none'
  readonly phase: Phase
  readonly offers: readonly string[]
  readonly effects: number
  readonly error?: string
  readonly forks: readonly ForkReport[]
}

export interface RowReport {
  readonly id: string
  readonly plugin: string
  readonly phase: Phase
  readonly generation: number
  readonly optional: boolean
  readonly injects: readonly string[]
  readonly provides: readonly string[]
  /** Capability → id of the row it is bound to (`kernel` for the kernel's own). */
  readonly bindings: Readonly<Record<string, string>>
  /** Capabilities it offers right now, its forks included. */
  readonly offers: readonly string[]
  readonly effects: number
  readonly kept: readonly string[]
  /** Milliseconds of the last activation, and of the last closing. */
  readonly activationMs?: number
  readonly closingMs?: number
  readonly error?: { readonly code: string; readonly message: string }
  /** Faults of undos, listeners, spawned work, fork bodies and disposals: the last 20, newest last. */
  readonly faults: readonly { readonly what: string; readonly code: string; readonly message: string }[]
  readonly forks: readonly ForkReport[]
}

/** Plain JSON; rows in load order. */
export interface KernelReport {
  readonly rows: readonly RowReport[]
  readonly settled: boolean
  /** Capability → id of the providing row. */
  readonly provisions: Readonly<Record<string, string>>
}

/** Why a row is not active: what it waits for, who could provide that, and why those are not active. */
export interface Cause {
  readonly row: string
  readonly phase: Phase
  readonly code?: string
  readonly message: string
  readonly capability?: string
  readonly causes: readonly Cause[]
}

export function inspect(world: World, settled: boolean): KernelReport {
  const provisions: Record<string, string> = {}
  for (const { key, provision } of world.slots) if (provision !== undefined) provisions[key] = provision.owner?.unit.row.id ?? 'kernel'
  const rows = [...world.rows.values()].sort((a, b) => a.order - b.order)
  return { rows: rows.map(reportRow), settled, provisions }
}

function reportRow(row: RowUnit): RowReport {
  const { id, phase, generation, optional, desired, activation, times, failure } = row
  return {
    id,
    plugin: desired.plugin.name,
    phase,
    generation,
    optional,
    injects: row.needs.map(({ key }) => key),
    provides: row.provides.map(({ key }) => key),
    bindings: Object.fromEntries(activation?.bound.map(({ slot, owner }) => [slot.key, owner?.unit.row.id ?? 'kernel']) ?? []),
    ...alive(activation),
    kept: row.kept?.keys ?? [],
    ...(times === undefined ? {} : { activationMs: times.activationMs }),
    ...(times?.closingMs === undefined ? {} : { closingMs: times.closingMs }),
    ...(phase === 'failed' && failure !== undefined ? { error: { code: codeOf(failure.error), message: failure.error.message } } : {}),
    faults: (row.faults ?? []).map(({ what, error }) => ({ what, code: codeOf(error), message: error.message })),
  }
}

function alive(activation: Activation | undefined): Pick<RowReport, 'offers' | 'effects' | 'forks'> {
  const forks = activation?.forks.map(reportFork) ?? []
  const own = activation?.offers.filter(({ slot, owner }) => slot.provision?.owner === owner).map(({ slot }) => slot.key) ?? []
  return { offers: [...own, ...forks.flatMap(({ offers }) => offers)], effects: activation?.scope.effects ?? 0, forks }
}

function reportFork(fork: ForkUnit): ForkReport {
  const { activation, failure, needs, phase } = fork
  const failed = phase === 'failed' ? failure : undefined
  const error = failed === undefined ? {} : { error: failed.error.message }
  return { needs: needs.map(({ key }) => key), branch: activation?.branch ?? failed?.branch ?? 'none', phase, ...alive(activation), ...error }
}

export function explain(row: RowUnit, path: readonly RowUnit[] = []): Cause {
  const { id, phase, failure } = row
  const about = { row: id, phase }
  if (path.includes(row)) return { ...about, message: `row "${id}" waits for itself`, causes: [] }
  if (phase === 'failed' && failure !== undefined) {
    return { ...about, code: codeOf(failure.error), message: failure.error.message, causes: [] }
  }
  if (phase !== 'waiting') return { ...about, message: `row "${id}" is ${phase}`, causes: [] }
  const missing = row.needs.find(({ provision }) => provision === undefined)
  if (missing !== undefined) return { ...about, ...missingCause(row, missing, path) }
  const taken = row.provides.find(({ holder }) => holder !== undefined && holder !== row)
  if (taken !== undefined) {
    const message = `row "${id}" waits: "${taken.key}" is provided by row "${taken.holder?.id}"; unload that one first`
    return { ...about, code: 'CAPABILITY_TAKEN', message, capability: taken.key, causes: [] }
  }
  return { ...about, message: `row "${id}" is about to be activated`, causes: [] }
}

function missingCause(row: RowUnit, { key, claimants }: Slot, path: readonly RowUnit[]): Omit<Cause, 'row' | 'phase'> {
  const causes = claimants.map((claimant) => explain(claimant, [...path, row]))
  const who = claimants.map(({ id }) => `"${id}"`).join(', ')
  const hint =
    causes.length === 0 ? 'no loaded plugin provides it' : `row ${who} could provide it and ${causes.length === 1 ? 'is' : 'are'} not active`
  return { code: 'PLUGIN_UNRESOLVED', message: `row "${row.id}" waits for "${key}": ${hint}`, capability: key, causes }
}

/** The tree of causes as indented lines. */
export function causeText({ message, causes }: Cause, indent = ''): string {
  return [indent + message, ...causes.map((cause) => causeText(cause, `${indent}  `))].join('\n')
}

function codeOf(error: Error): string {
  return 'code' in error ? String(error.code) : error.name
}
