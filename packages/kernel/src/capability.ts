import { KernelError } from './errors.ts'

declare const type: unique symbol

/**
 * A typed key under which plugins offer and inject a value. Capabilities are equal by key, so two copies of a contract package
 * meet. By convention a contract exports the interface and the token under one name:
 *
 *     export interface Shell { … }
 *     export const Shell = capability<Shell>('shell')
 */
export interface Capability<T> {
  readonly key: string
  readonly symbol: symbol
  /** Only the compiler looks at it. Invariant: a capability of a subtype is another capability. */
  readonly [type]?: (value: T) => T
}

// biome-ignore lint/suspicious/noExplicitAny: a capability of whatever type; `unknown` would not accept one, since T is invariant.
export type AnyCapability = Capability<any>
export type ValueOf<C> = C extends Capability<infer T> ? T : never
export type ValuesOf<N extends readonly AnyCapability[]> = { [I in keyof N]: ValueOf<N[I]> }

const KEY = /^[a-z][a-z0-9]*(-[a-z0-9]+)*$/

/** @throws KernelError CAPABILITY_KEY_INVALID unless the key is kebab-case (`system-prompt`). */
export function capability<T>(key: string): Capability<T> {
  if (typeof key !== 'string' || !KEY.test(key)) {
    throw new KernelError('CAPABILITY_KEY_INVALID', `capability key ${JSON.stringify(key)} is not kebab-case; write it like "system-prompt"`)
  }
  return Object.freeze({ key, symbol: Symbol.for(`tenon.capability.${key}`) })
}

export function isCapability(value: unknown): value is AnyCapability {
  if (typeof value !== 'object' || value === null) return false
  const { key, symbol } = value as Partial<AnyCapability>
  return typeof key === 'string' && symbol === Symbol.for(`tenon.capability.${key}`)
}
