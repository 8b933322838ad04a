import type { PluginScope } from '@tenon/kernel'
import type { Wanted } from './desired.ts'
import type { Shape } from './scenario.ts'
import type { Instance } from './stage.ts'

/** A kept value. Those that were migrated into each other hold the same thing, and one of them ends it. */
interface Keepsake {
  readonly family: Family
  readonly name: string
  readonly version: number
}

interface Family {
  readonly id: number
  disposed: number
  users: number
}

/** Watches what the rows of a scenario keep. */
export class Keepsakes {
  readonly #families: Family[] = []
  readonly #violated: (violation: string) => void
  /** What each row was given last. */
  readonly #given = new Map<string, Keepsake>()
  /** What each row had at the last rest. */
  #standing = new Map<Wanted, Keepsake>()

  constructor(violated: (violation: string) => void) {
    this.#violated = violated
  }

  keep(scope: Pick<PluginScope, 'keep'>, { label, row, config }: Instance, { name, keeps }: Shape): Keepsake {
    const { version } = config
    const kept = scope.keep<Keepsake>({
      key: 'state',
      version,
      create: () => {
        const family: Family = { id: this.#families.length, disposed: 0, users: 0 }
        this.#families.push(family)
        return { family, name, version }
      },
      dispose: ({ family }) => {
        family.disposed++
        if (family.disposed > 1) this.#violated(`kept value ${family.id} is disposed of ${family.disposed} times`)
        if (family.users > 0) this.#violated(`kept value ${family.id} is disposed of while it is in use`)
      },
      ...(keeps === 'migrated'
        ? {
            migrate: (old, from) => {
              const before = old as Keepsake
              if (before.version !== from || before.family.disposed > 0)
                this.#violated(`${label} migrates a value that is gone, or not of version ${from}`)
              return { family: before.family, name, version }
            },
          }
        : {}),
    })
    if (kept.version !== version) this.#violated(`${label} asked for version ${version} and got ${kept.version}`)
    if (kept.name !== name) this.#violated(`${label}, a ${name}, got what a ${kept.name} kept`)
    if (kept.family.disposed > 0) this.#violated(`${label} got a value that was disposed of`)
    kept.family.users++
    this.#given.set(row, kept)
    return kept
  }

  release({ family }: Keepsake): void {
    family.users--
  }

  /** A row that is the same row still, and asks for the same version under the same name, has the same value. */
  lookAtRest(active: readonly Wanted[], edits: number): void {
    const standing = new Map<Wanted, Keepsake>()
    for (const wanted of active) {
      const before = this.#standing.get(wanted)
      const isKeeping = wanted.wish.code.keeps !== 'nothing'
      const now = isKeeping ? this.#given.get(wanted.shape.id) : before
      // Code of another name ends it; of several edits one may have asked for another version meanwhile.
      if (!isKeeping && (edits > 1 || before?.name !== wanted.wish.code.name)) continue
      if (now !== undefined) standing.set(wanted, now)
      if (edits > 1 || before === undefined || now === undefined || now === before) continue
      if (now.name === before.name && now.version === before.version)
        this.#violated(`${wanted.shape.id} lost the value ${before.family.id} that it kept`)
    }
    this.#standing = standing
  }

  lookAtEnd(): void {
    for (const { id, disposed } of this.#families) if (disposed !== 1) this.#violated(`kept value ${id} was disposed of ${disposed} times`)
  }
}
