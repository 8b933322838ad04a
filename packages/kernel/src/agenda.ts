import type { Activation } from './activation.ts'
import { type ForkUnit, inOrder, type RowUnit, type Unit, type World } from './world.ts'

/** What is to be looked at, and what is under way. Whoever adds to it causes a pass of the reconciler. */
export class Agenda {
  /** Changed since the last look: may have to go down. */
  readonly changed = new Set<Unit>()
  /** Not up, and to be looked at once nothing is going down. */
  readonly waiting = new Set<Unit>()
  /** Could come up, but waits for what is coming: looked at again after every setback. */
  readonly held = new Set<Unit>()
  /** Something that was coming has come, or will not come any more. */
  setback = false
  /** Prospects have not been looked at since the last setback. */
  unreviewed = false
  /** The row whose body is being called: it joins those that move only if it does not end at once, as most do. */
  running: RowUnit | undefined
  /** Activations going down and values being disposed of: nothing comes up before they have ended. */
  leaving = 0
  /** How many commands there have been. */
  commands = 0
  readonly #world: World
  readonly #pass: () => void
  #closable: Activation[] = []
  /** Bodies, closings and disposals under way, by row. */
  readonly #moving = new Map<RowUnit, number>()
  #scheduled = false

  constructor(world: World, pass: () => void) {
    this.#world = world
    this.#pass = pass
  }

  get isIdle(): boolean {
    return this.running === undefined && this.#moving.size === 0 && this.changed.size === 0 && this.waiting.size === 0
  }

  /** Something was asked for in this tick. */
  get isDue(): boolean {
    return this.#scheduled
  }

  get movingRows(): RowUnit[] {
    return [...this.#moving.keys(), ...(this.running === undefined ? [] : [this.running])]
  }

  isMoving(row: RowUnit): boolean {
    return this.#moving.has(row) || this.running === row
  }

  /** All changes of one tick are looked at together. */
  schedule(): void {
    if (this.#scheduled) return
    this.#scheduled = true
    queueMicrotask(() => {
      this.#scheduled = false
      this.#pass()
    })
  }

  touch(unit: Unit): void {
    this.look(unit)
    this.commands++
    // Who is wanted to bring what has changed.
    this.setback = true
    this.schedule()
  }

  /** What is not up, but wanted, has nothing to take down: it is looked at when there is room to come up. */
  look(unit: Unit): void {
    if (unit.activation === undefined && unit.wanted) this.waiting.add(unit)
    else this.changed.add(unit)
  }

  /** The fork is not wanted any more, or its activation is gone. */
  drop(fork: ForkUnit): void {
    fork.wanted = false
    this.#world.unlink(fork)
    this.held.delete(fork)
    if (fork.activation !== undefined) this.touch(fork)
  }

  move(row: RowUnit, by: 1 | -1): void {
    const moves = (this.#moving.get(row) ?? 0) + by
    if (moves === 0) this.#moving.delete(row)
    else this.#moving.set(row, moves)
  }

  leave(row: RowUnit, by: 1 | -1): void {
    this.leaving += by
    this.move(row, by)
  }

  /** The activation may close now if it has to, its body has ended, and nothing depends on it any more. */
  closeWhenFree(activation: Activation | undefined): void {
    if (activation?.doomed === true && activation.state === 'live' && activation.dependents === 0) this.#closable.push(activation)
  }

  takeClosable(): Activation[] {
    const closable = this.#closable.sort((a, b) => inOrder(b.unit, a.unit))
    this.#closable = []
    return closable
  }

  /** What waits now, and after a setback also what was held. */
  takeWaiting(): Unit[] {
    if (this.setback) {
      for (const unit of this.held) this.waiting.add(unit)
      this.unreviewed = true
    }
    this.setback = false
    const waiting = [...this.waiting]
    this.waiting.clear()
    if (this.held.size > 0) for (const unit of waiting) this.held.delete(unit)
    return waiting
  }
}
