import type { Activation } from './activation.ts'
import type { Phase } from './row.ts'
import { type ForkUnit, type RowUnit, type Unit, usable, type World } from './world.ts'

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
  for (const { key, provision } of world.slots.values()) if (provision !== undefined) provisions[key] = provision.owner?.unit.row.id ?? 'kernel'
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

/** @param told rows that the tree names already: each is explained once, so a tangle of needs ends. */
export function explain(row: RowUnit, told = new Set<RowUnit>()): Cause {
  const { id, phase, failure } = row
  const about = { row: id, phase }
  if (told.has(row)) return { ...about, message: `row "${id}" is ${phase}, as told above`, causes: [] }
  told.add(row)
  if (phase === 'failed' && failure !== undefined) return { ...about, code: codeOf(failure.error), message: failure.error.message, causes: [] }
  if (phase !== 'waiting') return { ...about, message: `row "${id}" is ${phase}`, causes: [] }
  const lack = explainNeeds(row, `row "${id}"`, told)
  if (lack !== undefined) return lack
  const taken = row.provides.find(({ holder }) => holder !== undefined && holder !== row)
  if (taken === undefined) return { ...about, message: `row "${id}" is about to be activated`, causes: [] }
  const message = `row "${id}" waits: "${taken.key}" is provided by row "${taken.holder?.id}"; unload that one first`
  return { ...about, code: 'CAPABILITY_TAKEN', message, capability: taken.key, causes: [] }
}

function explainNeeds(unit: Unit, who: string, told: Set<RowUnit>): Cause | undefined {
  const missing = unit.needs.filter((slot) => usable(slot, unit) === undefined)
  const [first] = missing
  if (first === undefined) return undefined
  const why = missing.map(({ key, claimants }) => {
    const could = claimants.map(({ id }) => `"${id}"`).join(', ')
    return `"${key}" (${could === '' ? 'no loaded plugin provides it' : `row ${could} could provide it`})`
  })
  const causes = missing.flatMap(({ claimants }) => claimants.flatMap((claimant) => explainClaimant(claimant, told)))
  const message = `${who} waits for ${why.join(' and ')}`
  return { row: unit.row.id, phase: unit.phase, code: 'PLUGIN_UNRESOLVED', message, capability: first.key, causes }
}

/** Why a row does not bring what it may provide: itself, or what its forks wait for. */
function explainClaimant(row: RowUnit, told: Set<RowUnit>): Cause[] {
  if (row.phase !== 'active' || told.has(row)) return [explain(row, told)]
  told.add(row)
  const forks = row.activation?.forks ?? []
  const causes = forks.map((fork) => explainNeeds(fork, `a fork of row "${row.id}"`, told)).filter((cause) => cause !== undefined)
  return causes.length > 0 ? causes : [{ row: row.id, phase: row.phase, message: `row "${row.id}" is active and does not offer it`, causes: [] }]
}

/** The tree of causes as indented lines. */
export function causeText({ message, causes }: Cause, indent = ''): string {
  return [indent + message, ...causes.map((cause) => causeText(cause, `${indent}  `))].join('\n')
}

function codeOf(error: Error): string {
  return 'code' in error ? String(error.code) : error.name
}
