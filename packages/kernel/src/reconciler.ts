import { Activation, type ActivationEnvironment } from './activation.ts'
import { hold, release, runMarked } from './context.ts'
import { asError, KernelError } from './errors.ts'
import type { Kept } from './kept.ts'
import { decide, planDown, planUp, type Start } from './plan.ts'
import { isThenable } from './scope.ts'
import { type ForkUnit, inOrder, type Provision, type RowUnit, type Slot, type Unit, usable, type World } from './world.ts'

/** What the reconciler tells the kernel. */
export interface Observer extends ActivationEnvironment {
  phase(row: RowUnit, error?: Error): void
  /** The row was active and has to go down. */
  shaken(row: RowUnit): void
  /** What the activation changed in what its row keeps can stand. */
  succeeded(kept: Kept, activation: Activation): void
  offered(provision: Provision, type: 'provided' | 'withdrawn'): void
  /** The row's last scope has closed, and it is not wanted any more. */
  gone(row: RowUnit): void
  /** Everything that can be done now is done. */
  passed(): void
}

/**
 * Makes the world what it should be: loops until the plan is empty. Commands only change what is wanted and say what they touched,
 * so none is lost, whenever it comes.
 */
export class Reconciler {
  readonly #world: World
  readonly #observer: Observer
  /** Changed since the last look: may have to go down. */
  readonly #changed = new Set<Unit>()
  /** Not up, and to be looked at once nothing is going down. */
  readonly #waiting = new Set<Unit>()
  /** Could come up, but waits for what is coming: looked at again after every setback. */
  readonly #held = new Set<Unit>()
  #closable: Activation[] = []
  /** Activations, doomed or not, whose body or closing is under way, by row. */
  readonly #moving = new Map<RowUnit, number>()
  /** Going down, or being disposed of: nothing comes up before. */
  #leaving = 0
  #setback = false
  #scheduled = false
  #frozen = false

  constructor(world: World, observer: Observer) {
    this.#world = world
    this.#observer = observer
  }

  touch(unit: Unit): void {
    this.#changed.add(unit)
    this.#schedule()
  }

  /** The fork is not wanted any more, or its activation is gone. */
  forget(fork: ForkUnit): void {
    fork.wanted = false
    this.#world.unlink(fork)
    this.#held.delete(fork)
    if (fork.activation !== undefined) this.touch(fork)
  }

  /** Something was changed in this tick. */
  get isDue(): boolean {
    return this.#changed.size > 0
  }

  isMoving(row: RowUnit): boolean {
    return this.#moving.has(row)
  }

  /** The kernel closes: nothing comes up any more. */
  freeze(): void {
    this.#frozen = true
    this.#schedule()
  }

  get isIdle(): boolean {
    return this.#moving.size === 0 && this.#changed.size === 0 && this.#waiting.size === 0
  }

  /** Rows in transition, and those whose transition is due. */
  pending(): RowUnit[] {
    const rows = new Set(this.#moving.keys())
    for (const { unit } of planDown(this.#changed)) rows.add(unit.row)
    for (const { unit } of planUp([...this.#changed, ...this.#waiting]).up) rows.add(unit.row)
    return [...rows].sort(inOrder)
  }

  /** Something that must end before anything comes up, such as what an unloaded row kept. */
  leaving(row: RowUnit, work: Promise<void>): void {
    this.#leaving++
    this.#move(row, 1)
    void work.then(() => {
      this.#leaving--
      this.#move(row, -1)
      this.#schedule()
    })
  }

  #schedule(): void {
    if (this.#scheduled) return
    this.#scheduled = true
    queueMicrotask(() => {
      this.#scheduled = false
      this.#pass()
    })
  }

  #pass(): void {
    hold()
    while (this.#takeDown() || this.#close() || this.#bringUp());
    release()
    this.#observer.passed()
  }

  #takeDown(): boolean {
    if (this.#changed.size === 0) return false
    const changed = [...this.#changed]
    this.#changed.clear()
    for (const activation of planDown(changed)) this.#doom(activation)
    for (const unit of changed) {
      if (unit.activation !== undefined) continue
      if (unit.wanted) this.#waiting.add(unit)
      else if (unit === unit.row && !unit.row.unloaded) this.#observer.gone(unit.row)
    }
    return true
  }

  #doom(activation: Activation, error?: Error): void {
    const { row } = activation.unit
    if (activation.isLive && activation.parent === undefined && error === undefined) this.#observer.shaken(row)
    activation.doomed = true
    activation.error = error
    this.#leaving++
    this.#move(row, 1)
    if (activation.state === 'activating') activation.scope.cancel()
    else this.#closeWhenFree(activation)
    if (activation.parent === undefined) this.#observer.phase(row)
  }

  #closeWhenFree(activation: Activation): void {
    if (activation.doomed && activation.state === 'live' && activation.dependents === 0) this.#closable.push(activation)
  }

  #close(): boolean {
    if (this.#closable.length === 0) return false
    const batch = this.#closable.sort((a, b) => inOrder(b.unit, a.unit))
    this.#closable = []
    for (const activation of batch) {
      activation.state = 'closing'
      activation.since = performance.now()
      for (const provision of activation.offers) this.#withdraw(provision)
      if (activation.scope.shut()) this.#closed(activation)
      else {
        void activation.scope.quiescence().then(() => {
          this.#closed(activation)
          this.#schedule()
        })
      }
    }
    return true
  }

  #withdraw(provision: Provision): void {
    if (provision.slot.provision !== provision) return
    provision.slot.provision = undefined
    this.#observer.offered(provision, 'withdrawn')
  }

  #closed(activation: Activation): void {
    const { unit, error, branch, bound, desired, parent } = activation
    const { row } = unit
    for (const provision of bound) {
      provision.users.delete(activation)
      this.#releaseFrom(provision.owner)
    }
    this.#releaseFrom(parent)
    for (const fork of activation.forks) this.forget(fork)
    row.kept?.rollback(activation)
    unit.activation = undefined
    if (error !== undefined) unit.failure = { error, branch, bound, desired }
    if (unit === row) {
      if (row.times !== undefined) row.times.closingMs = performance.now() - activation.since
      this.#unclaim(row, activation.claimed)
    }
    this.#leaving--
    this.#move(row, -1)
    this.#setback = true
    if (unit.wanted) this.#waiting.add(unit)
    if (unit !== row) return
    if (!row.wanted) this.#observer.gone(row)
    else this.#observer.phase(row, error)
  }

  #releaseFrom(activation: Activation | undefined): void {
    if (activation === undefined) return
    activation.dependents--
    this.#closeWhenFree(activation)
  }

  #unclaim(row: RowUnit, slots: readonly Slot[]): void {
    for (const slot of slots) {
      slot.holder = undefined
      for (const rival of slot.claimants) if (rival !== row) this.#waiting.add(rival)
    }
  }

  #bringUp(): boolean {
    if (this.#frozen) this.#waiting.clear()
    if (this.#leaving > 0) return false
    if (this.#setback) for (const unit of this.#held) this.#waiting.add(unit)
    this.#setback = false
    if (this.#waiting.size === 0) return false
    const { up, held } = planUp(this.#waiting)
    for (const unit of this.#waiting) this.#held.delete(unit)
    this.#waiting.clear()
    for (const unit of held) this.#held.add(unit)
    for (const start of up) {
      // What came up before it in this batch may have changed everything.
      if (this.#leaving === 0 && decide(start.unit) === start.branch) this.#start(start)
      else this.#waiting.add(start.unit)
    }
    return true
  }

  #start({ unit, branch }: Start): void {
    const bound = branch === 'present' ? unit.needs.map((slot) => usable(slot, unit) as Provision) : []
    const activation = new Activation(unit, branch, bound, this.#observer)
    const { row } = unit
    unit.activation = activation
    unit.failure = undefined
    for (const { users, owner } of bound) {
      users.add(activation)
      if (owner !== undefined) owner.dependents++
    }
    if (activation.parent !== undefined) activation.parent.dependents++
    else {
      activation.claimed = [...row.provides]
      for (const slot of row.provides) {
        slot.holder = row
        if (slot.claimants.length > 1) this.#setback = true
      }
      row.kept?.begin(activation)
      this.#observer.phase(row)
    }
    this.#move(row, 1)
    hold()
    try {
      const returned = runMarked(activation.mark, () => activation.run())
      if (isThenable(returned)) this.#await(activation, returned)
      else this.#ended(activation)
    } catch (error) {
      this.#ended(activation, failure(activation, error))
    }
  }

  #await(activation: Activation, body: PromiseLike<void>): void {
    const { row } = activation.unit
    activation.timer = setTimeout(() => {
      const what = `row "${row.id}": ${activation.mark.what} took longer than ${row.budgets.activationMs} ms; make it faster or raise its budget`
      const error = new KernelError('ACTIVATION_TIMEOUT', what)
      activation.scope.cancel()
      if (activation.doomed) this.#observer.fault(row, activation.mark.what, error)
      this.#ended(activation, error)
      this.#schedule()
    }, row.budgets.activationMs)
    const end = (error?: Error): void => {
      this.#ended(activation, error)
      this.#schedule()
    }
    body.then(
      () => end(),
      (error: unknown) => end(failure(activation, error)),
    )
  }

  /** The body has returned, failed, or overrun its budget; only the first of these counts. */
  #ended(activation: Activation, error?: Error): void {
    if (activation.state !== 'activating') return
    activation.state = 'live'
    activation.mark.open = false
    clearTimeout(activation.timer)
    release()
    this.#move(activation.unit.row, -1)
    const isUp = error === undefined && !activation.doomed
    if (isUp) this.#publish(activation)
    else {
      if (activation.doomed) this.#closeWhenFree(activation)
      else this.#doom(activation, error)
      if (error !== undefined && activation.parent !== undefined) this.#observer.fault(activation.unit.row, 'fork body', error)
    }
  }

  #publish(activation: Activation): void {
    const { unit, offers, parent } = activation
    const { row } = unit
    for (const provision of offers) provision.slot.provision = provision
    for (const provision of offers) {
      this.#observer.offered(provision, 'provided')
      for (const waiter of provision.slot.interested) this.#changed.add(waiter)
    }
    for (const fork of activation.forks) this.#changed.add(fork)
    if (row.provides.length > offers.length) this.#setback = true
    if (row.kept !== undefined) this.#observer.succeeded(row.kept, activation)
    if (parent !== undefined) return
    row.times = { activationMs: performance.now() - activation.since, closingMs: row.times?.closingMs }
    this.#observer.phase(row)
  }

  #move(row: RowUnit, by: 1 | -1): void {
    const moves = (this.#moving.get(row) ?? 0) + by
    if (moves === 0) this.#moving.delete(row)
    else this.#moving.set(row, moves)
  }
}

function failure(activation: Activation, thrown: unknown): Error {
  const { row } = activation.unit
  const cause = asError(thrown)
  return new KernelError('ACTIVATION_FAILED', `row "${row.id}": ${activation.mark.what} failed: ${cause.message}`, { cause })
}
