import { asError, type Scope } from '@tenon/kernel'
import {
  type ShellEnv,
  type ShellEnvContext,
  type ShellEnvContributor,
  type ShellEnvDeclaration,
  ShellEnvError,
  validateContributor,
} from '@tenon/shell-env'

interface Entry {
  readonly name: string
  readonly contributor: ShellEnvContributor
  /** What it declared when it registered: a contributor cannot grow afterwards. */
  readonly variables: Readonly<Record<string, string>>
  /** Of its last contribution, so that a contributor that fails for every command is told of once. */
  fault: string | undefined
}

export class ContributorRegistry implements ShellEnv {
  readonly #builtIn: Readonly<Record<string, string>>
  readonly #warn: (error: Error, contributor: string) => void
  readonly #entries = new Map<string, Entry>()

  constructor(builtIn: Readonly<Record<string, string>>, warn: (error: Error, contributor: string) => void) {
    this.#builtIn = builtIn
    this.#warn = warn
  }

  register(scope: Scope, contributor: ShellEnvContributor): void {
    validateContributor(contributor)
    const { name } = contributor
    const variables = { ...contributor.variables }
    if (this.#entries.has(name)) {
      throw new ShellEnvError('NAME_TAKEN', `shell-env contributor "${name}" is registered already; give this one another name`)
    }
    for (const { name: owner, variables: taken } of this.#entries.values()) {
      const key = Object.keys(variables).find((candidate) => Object.hasOwn(taken, candidate))
      if (key === undefined) continue
      throw new ShellEnvError(
        'KEY_TAKEN',
        `shell-env contributor "${name}": ${key} is declared by contributor "${owner}" already; choose another name`,
      )
    }
    this.#entries.set(name, { name, contributor, variables, fault: undefined })
    scope.defer(() => {
      this.#entries.delete(name)
    })
  }

  collect(context: ShellEnvContext): Readonly<Record<string, string>> {
    const { sessionId } = context
    const collected: Record<string, string> = { ...this.#builtIn }
    if (sessionId !== undefined) collected.TENON_SESSION_ID = sessionId
    for (const entry of this.#inNameOrder()) Object.assign(collected, this.#contribution(entry, sessionId))
    return Object.freeze(sorted(collected))
  }

  list(): readonly ShellEnvDeclaration[] {
    return [...this.#entries.values()]
      .flatMap(({ contributor, variables }) =>
        Object.entries(variables).map(([key, description]) => ({ contributor: contributor.name, key, description })),
      )
      .sort((a, b) => compare(a.key, b.key))
  }

  #inNameOrder(): Entry[] {
    return [...this.#entries.values()].sort((a, b) => compare(a.name, b.name))
  }

  #contribution(entry: Entry, sessionId: string | undefined): Record<string, string> {
    const { name, contributor, variables } = entry
    try {
      const contribution = checked(contributor.resolve(sessionId === undefined ? {} : { sessionId }), variables)
      entry.fault = undefined
      return contribution
    } catch (thrown) {
      const error = asError(thrown)
      if (error.message !== entry.fault) this.#warn(error, name)
      entry.fault = error.message
      return {}
    }
  }
}

/** All of a contribution, or an error. */
function checked(returned: unknown, variables: Readonly<Record<string, string>>): Record<string, string> {
  if (typeof returned !== 'object' || returned === null)
    throw new Error(`resolve() returned ${returned === null ? 'null' : typeof returned}, not an object`)
  if (typeof (returned as PromiseLike<unknown>).then === 'function') {
    // Nobody waits for it: if it rejects later, that must not take the host with it.
    void Promise.resolve(returned).catch(() => undefined)
    throw new Error('resolve() returned a promise; it must be synchronous')
  }
  const contribution: Record<string, string> = {}
  for (const [key, value] of Object.entries(returned)) {
    if (!Object.hasOwn(variables, key)) throw new Error(`resolve() returned ${key}, which the contributor did not declare`)
    if (value === undefined) continue
    if (typeof value !== 'string') throw new Error(`resolve() returned ${key} as ${typeof value}, not a string`)
    if (value.includes('\0')) throw new Error(`resolve() returned ${key} with a NUL character`)
    contribution[key] = value
  }
  return contribution
}

function sorted(variables: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(variables).sort(([a], [b]) => compare(a, b)))
}

/** By code unit: the order does not depend on anybody's locale. */
function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0
}
