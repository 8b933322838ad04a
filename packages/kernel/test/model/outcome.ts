import type { ForkReport, KernelReport, RowReport } from '@tenon/kernel'
import type { Wanted } from './desired.ts'
import type { ForkShape, Shape } from './scenario.ts'

export const keyOf = (capability: number): string => `c${capability}`

export interface ForkOutcome {
  readonly branch: 'present' | 'otherwise' | 'none'
  readonly phase: string
  readonly offers: readonly string[]
  readonly forks: readonly ForkOutcome[]
}

export interface RowOutcome {
  readonly id: string
  readonly plugin: string
  readonly phase: string
  readonly bindings: Readonly<Record<string, string>>
  readonly offers: readonly string[]
  readonly forks: readonly ForkOutcome[]
}

/** All that is decided once nothing moves: a function of the composition, if no capability is contested. */
export interface Outcome {
  readonly rows: readonly RowOutcome[]
  readonly provisions: Readonly<Record<string, string>>
}

export function outcomeOf({ rows, provisions }: KernelReport): Outcome {
  const { reconciling: _, ...own } = provisions
  return { rows: rows.map(rowOutcome), provisions: own }
}

function rowOutcome({ id, plugin, phase, bindings, offers, forks }: RowReport): RowOutcome {
  return { id, plugin, phase, bindings, offers: [...offers].sort(), forks: forks.map(forkOutcome) }
}

function forkOutcome({ branch, phase, offers, forks }: ForkReport): ForkOutcome {
  return { branch, phase, offers: [...offers].sort(), forks: forks.map(forkOutcome) }
}

/** What the code of a row may provide, its forks included. */
export function claimsOf({ offers, forks }: Shape): number[] {
  return [...new Set([...offers, ...forks.flatMap((fork) => [...fork.offers, ...(fork.inner?.offers ?? [])])])]
}

/** Who holds a capability, and what flavour it has; undefined while it is not there. */
export type Provider = (capability: number) => { readonly row: string; readonly flavour: number } | undefined

/** What is to become of a row, given who provides what. `isFree` tells whether it may claim what it provides. */
export function expectRow({ shape: { id }, wish: { code, config } }: Wanted, provider: Provider, isFree: boolean): RowOutcome {
  const values = code.needs.map(provider)
  const isMet = values.every((value) => value !== undefined)
  const fails = isMet && (code.failsOn === config.n || values.some((value) => value?.flavour === code.dislikes))
  const phase = !isMet ? 'waiting' : fails ? 'failed' : isFree ? 'active' : 'waiting'
  const isActive = phase === 'active'
  const forks = isActive ? code.forks.map((fork) => expectFork(fork, provider)) : []
  const bindings = isActive ? Object.fromEntries(code.needs.map((need) => [keyOf(need), provider(need)?.row ?? ''])) : {}
  const offers = isActive ? [...code.offers.map(keyOf), ...forks.flatMap((fork) => fork.offers)].sort() : []
  return { id, plugin: code.name, phase, bindings, offers, forks }
}

function expectFork(fork: ForkShape, provider: Provider): ForkOutcome {
  const values = fork.needs.map(provider)
  const isPresent = values.every((value) => value !== undefined)
  if (!isPresent && fork.otherwise === 'none') return { branch: 'none', phase: 'waiting', offers: [], forks: [] }
  const fails = isPresent && values.some((value) => value?.flavour === fork.dislikes)
  const branch = isPresent ? 'present' : 'otherwise'
  if (fails) return { branch, phase: 'failed', offers: [], forks: [] }
  const forks = isPresent && fork.inner !== undefined ? [expectFork(fork.inner, provider)] : []
  const own = isPresent || fork.otherwise === 'offers' ? fork.offers.map(keyOf) : []
  return { branch, phase: 'active', offers: [...own, ...forks.flatMap(({ offers }) => offers)].sort(), forks }
}

/**
 * The model, for compositions in which every capability has at most one row that may provide it. What a row offers is greater
 * than all it needs, so one look at the capabilities in their order decides everything.
 */
export function expectOutcome(composition: readonly Wanted[]): Outcome {
  const known = new Map<number, ReturnType<Provider>>()
  const provider: Provider = (capability) => {
    if (known.has(capability)) return known.get(capability)
    const claimant = composition.find(({ wish }) => claimsOf(wish.code).includes(capability))
    // Forks may need anything; only those that bring this capability matter here, and they need less than it.
    const row = claimant && expectRow(narrowed(claimant, capability), provider, true)
    const isThere = row?.offers.includes(keyOf(capability)) === true
    const found = claimant !== undefined && isThere ? { row: claimant.shape.id, flavour: claimant.wish.config.n } : undefined
    known.set(capability, found)
    return found
  }
  const rows = composition.map((wanted) => expectRow(wanted, provider, true))
  return { rows, provisions: provisionsOf(rows) }
}

/** The row with only those forks that can bring the capability. */
function narrowed(wanted: Wanted, capability: number): Wanted {
  const { code, config } = wanted.wish
  const forks = code.forks.flatMap((fork): ForkShape[] => {
    if (fork.offers.includes(capability)) return [{ ...fork, inner: undefined }]
    return fork.inner?.offers.includes(capability) === true ? [fork] : []
  })
  return { ...wanted, wish: { code: { ...code, forks }, config } }
}

function provisionsOf(rows: readonly RowOutcome[]): Record<string, string> {
  return Object.fromEntries(rows.flatMap(({ id, offers }) => offers.map((key) => [key, id])))
}

/**
 * What must hold of any composition, contested ones too: each row is what it has to be, given who provides what, and no row waits
 * for a slot that nobody holds.
 */
export function expectGiven(composition: readonly Wanted[], actual: Outcome): Outcome {
  const flavours = new Map(composition.map(({ shape, wish }) => [shape.id, wish.config.n]))
  const provider: Provider = (capability) => {
    const row = actual.provisions[keyOf(capability)]
    return row === undefined ? undefined : { row, flavour: flavours.get(row) ?? Number.NaN }
  }
  const active = new Set(actual.rows.filter(({ phase }) => phase === 'active').map(({ id }) => id))
  const rows = composition.map((wanted) => {
    const claims = claimsOf(wanted.wish.code)
    const rivals = composition.filter(
      ({ shape, wish }) => shape !== wanted.shape && active.has(shape.id) && claimsOf(wish.code).some((one) => claims.includes(one)),
    )
    const row = expectRow(wanted, provider, rivals.length === 0)
    // While it is held by another, a row that would fail is not tried.
    const actualPhase = actual.rows.find(({ id }) => id === row.id)?.phase
    return row.phase === 'failed' && rivals.length > 0 && actualPhase === 'waiting' ? { ...row, phase: 'waiting' } : row
  })
  return { rows, provisions: provisionsOf(rows) }
}
