import 'reflect-metadata'
import { container, type DependencyContainer } from 'tsyringe'
import type { AnyCapability, Capability } from './capability.ts'
import { asError, KernelError } from './errors.ts'

/** The token of the scope itself: the class `PluginScope`. */
export interface Injected {
  readonly signal: AbortSignal
}
export type InjectedScope = abstract new (...args: never[]) => Injected
export type Token = AnyCapability | InjectedScope

type Instance<T> = T extends Capability<infer V> ? V : T extends abstract new (...args: never[]) => infer V ? V : never
type Constructor = abstract new (...args: never[]) => unknown
/** Unsatisfiable for a parameter of another type; the compiler shows this name. */
type ParameterOf<C extends Constructor, I extends number, V> = V extends ConstructorParameters<C>[I] ? I : never

const TOKENS: unique symbol = Symbol.for('tenon.construct.tokens')

/** By class, once per process: two copies of the kernel share it, and it holds no class alive. */
const shared = globalThis as { [TOKENS]?: WeakMap<object, Token[]> }
const tokens = shared[TOKENS] ?? new WeakMap<object, Token[]>()
shared[TOKENS] = tokens

/** Marks a constructor parameter with what it gets. Does not compile for a parameter of another type. */
export function inject<const T extends Token>(token: T) {
  return <C extends Constructor, const I extends number>(type: C, _member: undefined, index: ParameterOf<C, I, Instance<T>>): void => {
    const list = tokens.get(type) ?? []
    list[index] = token
    tokens.set(type, list)
  }
}

/** One per activation, made on the first `construct`: a container of values, thrown away with the activation. */
export class Workshop {
  readonly #container: DependencyContainer = container.createChildContainer()
  readonly #owner: string

  constructor(owner: string, scope: Injected, values: ReadonlyMap<string, unknown>) {
    this.#owner = owner
    this.#container.register(SCOPE, { useValue: scope })
    for (const [key, value] of values) this.#container.register(key, { useValue: value })
  }

  /** @throws KernelError CONSTRUCTION_FAILED */
  construct<T>(type: new (...injected: never[]) => T): T {
    const list = tokens.get(type) ?? []
    const keys: (string | symbol)[] = []
    for (let index = 0; index < Math.max(list.length, type.length); index++) {
      const token = list[index]
      if (token === undefined) throw this.#failure(type, `parameter ${index} has no token; write @inject(Token) before it`)
      const key = typeof token === 'function' ? SCOPE : token.key
      if (!this.#container.isRegistered(key)) {
        throw this.#failure(type, `parameter ${index} wants "${String(key)}", which is not injected here; add it to \`inject\``)
      }
      keys.push(key)
    }
    // `useFactory`, not tsyringe's own `@injectable()`: that keeps every class alive in a module-level map.
    const made = this.#container.createChildContainer()
    made.register(PRODUCT, { useFactory: (from) => new type(...keys.map((key) => from.resolve<never>(key))) })
    try {
      return made.resolve<T>(PRODUCT)
    } catch (error) {
      throw this.#failure(type, asError(error).message, error)
    }
  }

  #failure(type: { readonly name: string }, why: string, cause?: unknown): KernelError {
    return new KernelError('CONSTRUCTION_FAILED', `${this.#owner}: cannot construct ${type.name || 'a class without a name'}: ${why}`, { cause })
  }
}

/** Every class given as a token stands for the scope; there is only one such class. */
const SCOPE = Symbol('scope')
const PRODUCT = Symbol('product')
