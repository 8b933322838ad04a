import type { Path } from './located.ts'

/** How to write a number that stands there as a text; undefined if the text says nothing that can be read as one. */
export function numberFromText(text: string, path: Path): string | undefined {
  const trimmed = text.trim()
  if (trimmed !== '' && Number.isFinite(Number(trimmed))) return `write it without quotes: ${Number(trimmed)}`
  const unit = unitOf(path)
  const [, amount = '', suffix = ''] = /^(\d+(?:\.\d+)?)\s*([a-z]+)$/i.exec(trimmed) ?? []
  const factor = unit === undefined ? undefined : factorOf(unit.factors, suffix)
  if (unit === undefined || factor === undefined) return undefined
  return `it is a number of ${unit.name}: write ${Math.round(Number(amount) * factor)}`
}

/** What a number at `path` counts, from the ending of its name. */
export function numberHint(path: Path): string | undefined {
  const unit = unitOf(path)
  return unit && `write a number of ${unit.name}, such as ${unit.example}`
}

interface Unit {
  readonly name: string
  readonly example: number
  readonly factors: Readonly<Record<string, number>>
}

const SECOND = 1_000
const KIB = 1_024

const UNITS: readonly (readonly [ending: RegExp, Unit])[] = [
  [
    /Ms$/,
    {
      name: 'milliseconds',
      example: 60_000,
      factors: {
        ms: 1,
        ...named(['s', 'sec', 'secs', 'second', 'seconds'], SECOND),
        ...named(['m', 'min', 'mins', 'minute', 'minutes'], 60 * SECOND),
        ...named(['h', 'hour', 'hours'], 3_600 * SECOND),
        ...named(['d', 'day', 'days'], 86_400 * SECOND),
      },
    },
  ],
  [
    /Bytes$/,
    {
      name: 'bytes',
      example: 65_536,
      factors: {
        ...named(['b', 'byte', 'bytes'], 1),
        ...named(['k', 'kb', 'kib'], KIB),
        ...named(['m', 'mb', 'mib'], KIB ** 2),
        ...named(['g', 'gb', 'gib'], KIB ** 3),
      },
    },
  ],
]

function unitOf(path: Path): Unit | undefined {
  const name = String(path.at(-1) ?? '')
  return UNITS.find(([ending]) => ending.test(name))?.[1]
}

function factorOf(factors: Unit['factors'], suffix: string): number | undefined {
  const lower = suffix.toLowerCase()
  return Object.hasOwn(factors, lower) ? factors[lower] : undefined
}

function named(names: readonly string[], factor: number): Readonly<Record<string, number>> {
  return Object.fromEntries(names.map((name) => [name, factor]))
}
