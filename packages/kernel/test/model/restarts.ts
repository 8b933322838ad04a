import type { Desired, Wanted, Wish } from './desired.ts'
import type { Shape } from './scenario.ts'
import type { Instance } from './stage.ts'

/** Watches, from one rest to the next, that nothing is restarted without a reason, or twice for one edit. */
export class Restarts {
  #wishes = new Map<Wanted, Wish>()
  /** What stood at the last rest, by row. */
  #standing = new Map<string, Instance>()
  #seen = 0
  #edits = 0
  #isSameTick = false
  #wasTakenBack = false

  /** Commands of one tick are one edit, each transaction is one of its own. */
  command(isTransaction: boolean): void {
    if (isTransaction || !this.#isSameTick) this.#edits++
    this.#isSameTick = !isTransaction
  }

  get edits(): number {
    return this.#edits
  }

  turn(): void {
    this.#isSameTick = false
  }

  takenBack(): void {
    this.#wasTakenBack = true
  }

  /** What was wrong since the last rest. */
  look(instances: readonly Instance[], desired: Desired, contested: boolean): string | undefined {
    const started = instances.slice(this.#seen).filter(({ branch }) => branch === 'row')
    const fault = this.#twice(started, desired, contested) ?? this.#idly(started, desired)
    this.#wishes = new Map(desired.rows.map((wanted) => [wanted, wanted.wish]))
    this.#standing = new Map(instances.flatMap((one) => (one.branch === 'row' && one.state === 'up' ? [[one.row, one]] : [])))
    this.#seen = instances.length
    this.#edits = 0
    this.#isSameTick = false
    this.#wasTakenBack = false
    return fault
  }

  /** What forks offer comes and goes at its own pace, and so do those who get a capability after a rival. */
  #twice(started: readonly Instance[], desired: Desired, contested: boolean): string | undefined {
    const isSimple = [...desired.rows, ...this.#wishes.keys()].every(({ shape }) => shape.codes.every(isPlain))
    if (this.#edits !== 1 || this.#wasTakenBack || contested || !isSimple) return undefined
    const twice = started.find(({ row }, index) => started.findIndex((other) => other.row === row) < index)
    return twice && `${twice.label} is the second start of ${twice.row} for one edit`
  }

  #idly(started: readonly Instance[], desired: Desired): string | undefined {
    if (this.#wasTakenBack) return undefined
    for (const instance of started) {
      const wanted = desired.get(instance.row)
      const before = this.#standing.get(instance.row)
      if (wanted === undefined || before === undefined || this.#wishes.get(wanted) !== wanted.wish) continue
      if (before.bound.every(({ owner }) => owner.state === 'up'))
        return `${instance.label} was started although nothing that ${before.label} used has changed`
    }
    return undefined
  }
}

function isPlain({ forks }: Shape): boolean {
  return forks.every(({ offers, inner }) => offers.length === 0 && (inner?.offers.length ?? 0) === 0)
}
