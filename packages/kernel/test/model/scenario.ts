import fc from 'fast-check'
import { tell } from './story.ts'

/** Capabilities are numbers; what a row or fork offers is always greater than all it needs, so nothing can wait for itself. */
export const CAPABILITIES = 8
const ROWS = 12

/** Where code waits for the schedule; elsewhere it runs through at once. */
export interface Pace {
  readonly up: boolean
  readonly down: boolean
}

export interface ForkShape {
  readonly needs: readonly number[]
  readonly offers: readonly number[]
  /** Whether there is an `otherwise`, and whether that offers the same. */
  readonly otherwise: 'none' | 'plain' | 'offers'
  readonly pace: Pace
  /** Fails on a value of this flavour. */
  readonly dislikes: number | undefined
  readonly inner: ForkShape | undefined
}

/** The code of a plugin. */
export interface Shape {
  readonly name: string
  readonly needs: readonly number[]
  readonly offers: readonly number[]
  readonly forks: readonly ForkShape[]
  readonly pace: Pace
  /** Answers its cancellation with an error. */
  readonly obedient: boolean
  readonly keeps: 'nothing' | 'created' | 'migrated'
  /** Fails with this `n` in its config. */
  readonly failsOn: number | undefined
  /** Fails on a value of this flavour. */
  readonly dislikes: number | undefined
  /** Closes its own scope in its activation, with this `n` in its config. */
  readonly leavesOn: number | undefined
}

export interface Config {
  /** The flavour of what the row offers. */
  readonly n: number
  /** Of what the row keeps. */
  readonly version: number
}

export interface RowShape {
  readonly id: string
  readonly optional: boolean
  readonly codes: readonly [Shape, Shape]
}

/**
 * `row` counts round the rows that the edit can apply to when its time comes: for `load` those not loaded, else those loaded; for a
 * command that meddles, those that the transaction under way has touched, if there are any.
 */
export type Edit =
  | { readonly do: 'load' | 'replace'; readonly row: number; readonly code: 0 | 1; readonly config: Config }
  | { readonly do: 'unload'; readonly row: number; readonly meddles: boolean }
  | { readonly do: 'reconfigure'; readonly row: number; readonly config: Config; readonly meddles: boolean }

export type Step =
  | Edit
  | { readonly do: 'flap'; readonly row: number; readonly code: 0 | 1; readonly config: Config }
  /** One that is sabotaged loads a slow row that fails in the end. */
  | { readonly do: 'transaction'; readonly edits: readonly Edit[]; readonly sabotaged: boolean }
  | { readonly do: 'ready'; readonly row: number }
  /** Lets the waiting place of this number, counted round, go on. */
  | { readonly do: 'open'; readonly gate: number }
  /** Ends the tick: what follows is a later edit. */
  | { readonly do: 'tick' }
  /** Lets everything go on until nothing moves, and compares with the model. */
  | { readonly do: 'settle' }

const sabotage: Shape = {
  ...{ name: 'saboteur', needs: [], offers: [], forks: [], pace: { up: true, down: false }, obedient: false, keeps: 'nothing' },
  ...{ failsOn: 0, dislikes: undefined, leavesOn: undefined },
}
export const SABOTEUR: RowShape = { id: 'saboteur', optional: false, codes: [sabotage, sabotage] }

export interface Scenario {
  readonly rows: readonly RowShape[]
  /** One capability may be offered by several rows. */
  readonly contested: boolean
  readonly boot: readonly { readonly row: number; readonly code: 0 | 1; readonly config: Config }[]
  readonly steps: readonly Step[]
  /** Which waiting place goes on next while settling, counted round; the oldest when it is used up. */
  readonly order: readonly number[]
}

const seldom = (arbitrary: fc.Arbitrary<number>): fc.Arbitrary<number | undefined> =>
  fc.oneof({ weight: 4, arbitrary: fc.constant(undefined) }, { weight: 1, arbitrary })
const capabilities = (minLength: number, maxLength: number): fc.Arbitrary<number[]> =>
  fc.uniqueArray(fc.nat(CAPABILITIES - 1), { minLength, maxLength, size: 'max' })
const pace = fc.record<Pace>({ up: fc.boolean(), down: fc.boolean() })
/** Made by `map`: a record of fast-check may have no prototype, and then equals no other. */
const config = fc.tuple(fc.nat(2), fc.integer({ min: 1, max: 2 })).map(([n, version]): Config => ({ n, version }))
const code = fc.constantFrom(0 as const, 1 as const)

const fork = fc.record({
  needs: capabilities(1, 2),
  otherwise: fc.constantFrom('none' as const, 'plain' as const, 'offers' as const),
  pace,
  dislikes: seldom(fc.nat(2)),
})

/** Where the code offers a capability, should its row own it. */
type Place = 'activate' | 'fork' | 'inner' | 'nowhere'

const shape = fc.record({
  needs: capabilities(0, 3),
  places: fc.array(fc.constantFrom<Place[]>('activate', 'activate', 'activate', 'fork', 'inner', 'nowhere'), {
    minLength: CAPABILITIES,
    maxLength: CAPABILITIES,
  }),
  forks: fc.array(fork, { maxLength: 2, size: 'max' }),
  inner: fc.option(fork, { nil: undefined, freq: 2 }),
  pace,
  obedient: fc.boolean(),
  keeps: fc.constantFrom('nothing' as const, 'created' as const, 'migrated' as const),
  failsOn: seldom(fc.nat(2)),
  dislikes: seldom(fc.nat(2)),
  leavesOn: fc.oneof({ weight: 12, arbitrary: fc.constant(undefined) }, { weight: 1, arbitrary: fc.nat(2) }),
})
type RawShape = typeof shape extends fc.Arbitrary<infer T> ? T : never

/** Puts the capabilities that the row owns where the code offers them, and leaves out the needs that are not less than these. */
function admitted(raw: RawShape, name: string, owned: readonly number[]): Shape {
  const {
    places,
    forks: [outer, second],
    inner: within,
    ...rest
  } = raw
  const at = (place: Place): number[] => owned.filter((capability) => places[capability] === place)
  const below = (needs: readonly number[], offers: readonly number[]): number[] => needs.filter((need) => offers.every((offer) => need < offer))
  const offers = at('activate')
  const outerOffers = outer === undefined ? [] : at('fork')
  const innerOffers = outer === undefined || within === undefined ? [] : at('inner')
  const inner = within && { ...within, needs: below(within.needs, innerOffers), offers: innerOffers, inner: undefined }
  const first = outer && { ...outer, needs: below(outer.needs, [...outerOffers, ...innerOffers]), offers: outerOffers, inner }
  const forks = [first, second && { ...second, offers: [], inner: undefined }].filter((one) => one !== undefined)
  return { ...rest, name, needs: below(raw.needs, [...offers, ...outerOffers, ...innerOffers]), offers, forks }
}

/** Counts round whatever it is to choose from. */
const which = fc.nat(ROWS - 1)

const edit: fc.Arbitrary<Edit> = fc.oneof(
  { weight: 3, arbitrary: fc.record({ do: fc.constant('load' as const), row: which, code, config }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('replace' as const), row: which, code, config }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('unload' as const), row: which, meddles: fc.boolean() }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('reconfigure' as const), row: which, config, meddles: fc.boolean() }) },
)

const step = fc.oneof<fc.WeightedArbitrary<Step>[]>(
  { weight: 5, arbitrary: edit },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('flap' as const), row: which, code, config }) },
  {
    weight: 3,
    arbitrary: fc.record({ do: fc.constant('transaction' as const), edits: fc.array(edit, { minLength: 1, maxLength: 4 }), sabotaged: fc.boolean() }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('ready' as const), row: which }) },
  { weight: 6, arbitrary: fc.record({ do: fc.constant('open' as const), gate: fc.nat(7) }) },
  { weight: 3, arbitrary: fc.constant({ do: 'tick' as const }) },
  { weight: 4, arbitrary: fc.constant({ do: 'settle' as const }) },
)

const each = <T>(count: number, arbitrary: fc.Arbitrary<T>): fc.Arbitrary<T[]> => fc.array(arbitrary, { minLength: count, maxLength: count })

export const scenarios: fc.Arbitrary<Scenario> = fc
  .record({
    size: fc.integer({ min: 1, max: ROWS }),
    raw: each(ROWS, fc.record({ codes: fc.tuple(shape, shape), optional: fc.boolean(), renamed: fc.boolean() })),
    owners: each(CAPABILITIES, which),
    rivals: fc.option(each(CAPABILITIES, which), { nil: undefined, freq: 2 }),
    boot: fc.uniqueArray(fc.record({ row: which, code, config }), { maxLength: ROWS, selector: ({ row }) => row, size: 'max' }),
    steps: fc.array(step, { maxLength: 24, size: 'max' }),
    order: fc.array(fc.nat(7), { maxLength: 24, size: 'max' }),
  })
  .map(({ size, raw, owners, rivals, boot, steps, order }): Scenario => {
    const rows = raw.slice(0, size).map(({ codes: [first, second], optional, renamed }, index): RowShape => {
      const owns = (owner: number | undefined): boolean => owner !== undefined && owner % size === index
      const owned = owners.flatMap((owner, capability) => (owns(owner) || owns(rivals?.[capability]) ? [capability] : []))
      const name = `p${index}`
      return { id: `r${index}`, optional, codes: [admitted(first, name, owned), admitted(second, renamed ? `${name}-other` : name, owned)] }
    })
    const scenario: Scenario = { rows, contested: rivals !== undefined, boot: boot.filter(({ row }) => row < size), steps, order }
    return Object.defineProperty(scenario, fc.toStringMethod, { value: () => tell(scenario) })
  })
