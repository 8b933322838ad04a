import type { When } from './catalog-schema.ts'
import type { Environment } from './expression.ts'

export interface Host {
  readonly platform: string
  readonly env: Environment
  /** Of Node, without a leading `v`. */
  readonly nodeVersion: string
}

/** Why a row does not apply, or undefined if it does. */
export function whyNot(when: When, host: Host): string | undefined {
  const platforms = when.platform === undefined ? [] : [when.platform].flat()
  if (platforms.length > 0 && !platforms.some((platform) => platform === host.platform)) {
    return `platform is ${host.platform}, not ${platforms.join(' or ')}`
  }
  const wanted = when.env === undefined ? {} : wantedVariables(when.env)
  for (const [name, value] of Object.entries(wanted)) {
    const actual = (Object.hasOwn(host.env, name) ? host.env[name] : undefined) ?? ''
    if (value === true && actual === '') return `${name} is not set`
    if (value === false && actual !== '') return `${name} is set`
    if (typeof value === 'string' && actual !== value) return `${name} is not ${JSON.stringify(value)}`
  }
  if (when.node !== undefined && comparisons(when.node)?.every((holds) => holds(host.nodeVersion)) === false) {
    return `Node is ${host.nodeVersion}, not ${when.node}`
  }
  return undefined
}

/** A comparison per blank-separated part, or undefined if one cannot be read. */
export function comparisons(range: string): readonly ((version: string) => boolean)[] | undefined {
  const read = range
    .trim()
    .split(/\s+/)
    .map((part) => {
      const [, operator = '=', numbers] = /^(>=|<=|>|<|=)?v?(\d+(?:\.\d+){0,2})$/.exec(part) ?? []
      return numbers === undefined ? undefined : (version: string) => holds(operator, order(version, numbers))
    })
  return read.every((part) => part !== undefined) ? read : undefined
}

function wantedVariables(env: NonNullable<When['env']>): Readonly<Record<string, string | boolean>> {
  return typeof env === 'string' || Array.isArray(env) ? Object.fromEntries([env].flat().map((name) => [name, true])) : env
}

/** Only as many numbers as `numbers` has count: 20.19.3 equals 20.19 and is not above 20. */
function order(version: string, numbers: string): number {
  const actual = version.replace(/^v/, '').split(/[.-]/).map(Number)
  for (const [index, number] of numbers.split('.').map(Number).entries()) {
    const difference = (actual[index] ?? 0) - number
    if (difference !== 0) return difference
  }
  return 0
}

function holds(operator: string, difference: number): boolean {
  switch (operator) {
    case '>=':
      return difference >= 0
    case '<=':
      return difference <= 0
    case '>':
      return difference > 0
    case '<':
      return difference < 0
    default:
      return difference === 0
  }
}
