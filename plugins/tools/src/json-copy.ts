import type { Json } from '@tenon/kernel'
import { formatPath } from './json-path.ts'
import { problems } from './text.ts'

export interface CopyLimits {
  /** UTF-8 bytes of the JSON text, escapes not counted. */
  readonly maxBytes: number
  readonly maxDepth: number
  /** `refuse`: whoever sent it meant something JSON cannot say. `drop`: as JSON.stringify does. */
  readonly undefinedProperties: 'refuse' | 'drop'
  /** How messages call the whole value. */
  readonly root: string
}

/** The message says what is wrong and where: `list[2] is NaN`. */
export class NotJson extends Error {}

/**
 * A deep-frozen copy that reads every property once, so that what was checked is what is used: getters and proxies have no second say.
 * The original stays as it is. Halves of characters, which strict readers of JSON refuse, become U+FFFD.
 * @throws NotJson for whatever JSON cannot express, also if reading it throws
 */
export function copyJson(value: unknown, limits: CopyLimits): Json {
  const copier = new Copier(limits)
  try {
    return copier.copy(value)
  } catch (error) {
    if (error instanceof NotJson) throw error
    throw new NotJson(problems.unreadable(copier.place), { cause: error })
  }
}

class Copier {
  readonly #limits: CopyLimits
  readonly #path: (string | number)[] = []
  readonly #ancestors: object[] = []
  #bytes = 0

  constructor(limits: CopyLimits) {
    this.#limits = limits
  }

  get place(): string {
    return formatPath(this.#path, this.#limits.root)
  }

  copy(value: unknown): Json {
    switch (typeof value) {
      case 'string':
        this.#count(Buffer.byteLength(value) + 2)
        return value.toWellFormed()
      case 'number':
        if (!Number.isFinite(value)) throw new NotJson(problems.is(this.place, String(value)))
        this.#count(1)
        return value === 0 ? 0 : value
      case 'boolean':
        this.#count(4)
        return value
      case 'object':
        if (value !== null) return Array.isArray(value) ? this.#array(value) : this.#object(value)
        this.#count(4)
        return null
      case 'undefined':
        throw new NotJson(problems.is(this.place, 'undefined'))
      default:
        throw new NotJson(problems.is(this.place, `a ${typeof value}`))
    }
  }

  #array(original: readonly unknown[]): Json {
    this.#enter(original)
    const { length } = original
    const copy: Json[] = []
    for (let index = 0; index < length; index++) {
      this.#path.push(index)
      copy.push(this.copy(original[index]))
      this.#path.pop()
    }
    this.#ancestors.pop()
    return Object.freeze(copy)
  }

  #object(original: object): Json {
    this.#enter(original)
    if (!isPlain(original)) throw new NotJson(problems.is(this.place, className(original)))
    const copy: Record<string, Json> = {}
    for (const key of Object.keys(original)) {
      this.#path.push(key)
      const value: unknown = Reflect.get(original, key)
      if (value !== undefined || this.#limits.undefinedProperties === 'refuse') {
        this.#count(Buffer.byteLength(key) + 4)
        const copied = this.copy(value)
        // Assigning to `__proto__` would replace the prototype of the copy.
        if (key === '__proto__') Object.defineProperty(copy, key, { value: copied, enumerable: true })
        else copy[key.toWellFormed()] = copied
      }
      this.#path.pop()
    }
    this.#ancestors.pop()
    return Object.freeze(copy)
  }

  #enter(original: object): void {
    if (this.#ancestors.includes(original)) throw new NotJson(problems.cyclic(this.place))
    this.#ancestors.push(original)
    if (this.#ancestors.length > this.#limits.maxDepth) throw new NotJson(problems.tooDeep(this.#limits.maxDepth))
    this.#count(2)
  }

  #count(bytes: number): void {
    this.#bytes += bytes
    if (this.#bytes > this.#limits.maxBytes) throw new NotJson(problems.tooLarge(this.#limits.maxBytes))
  }
}

/** Also if it comes from another realm: its prototype is the end of a chain and looks like Object.prototype. */
function isPlain(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value)
  if (prototype === null || prototype === Object.prototype) return true
  return typeof prototype === 'object' && Object.getPrototypeOf(prototype) === null && Object.hasOwn(prototype, 'hasOwnProperty')
}

function className(value: object): string {
  const name: unknown = (value.constructor as { name?: unknown } | undefined)?.name
  return problems.instance(typeof name === 'string' && /^[\w$]{1,64}$/.test(name) ? name : undefined)
}
