import { Activation, type ActivationEnvironment } from './activation.ts'
import type { Agenda } from './agenda.ts'
import { hold, release, runMarked } from './context.ts'
import { asError, KernelError } from './errors.ts'
import type { Kept } from './kept.ts'
import type { Start } from './plan.ts'
import { isThenable } from './scope.ts'
import { ForkUnit, NONE, type Provision, type RowUnit, usable } from './world.ts'

/** Of one fork between two commands: far more than any composition that comes to rest needs. */
const MOST_STARTS = 100

/** What happens to rows, told to the kernel as it happens. */
export interface Observer extends ActivationEnvironment {
  phase(row: RowUnit, error?: Error): void
  /** The row was active and has to go down. */
  shaken(row: RowUnit): void
  /** What the activation changed in what its row keeps can stand. */
  succeeded(kept: Kept, activation: Activation): void
  /** What it changed in what its row keeps is taken back, unless it stands. */
  closed(kept: Kept, activation: Activation): void
  offered(provision: Provision, type: 'provided' | 'withdrawn'): void
  /** The row is not wanted any more, and its last scope has closed. */
  gone(row: RowUnit): void
}

/** Takes one activation from its start to its end, and notes in the agenda what follows from each step. */
export class Lifecycle {
  readonly #agenda: Agenda
  readonly #observer: Observer

  constructor(agenda: Agenda, observer: Observer) {
    this.#agenda = agenda
    this.#observer = observer
  }

  start({ unit, branch }: Start): void {
    if (unit instanceof ForkUnit && this.#isRestless(unit)) return
    const bound = branch === 'present' && unit.needs.length > 0 ? unit.needs.map((slot) => usable(slot, unit) as Provision) : NONE
    const activation = new Activation(unit, branch, bound, this.#observer)
    const { row } = unit
    unit.activation = activation
    unit.failure = undefined
    for (let index = 0; index < bound.length; index++) {
      const { users, owner } = bound[index] as Provision
      users.add(activation)
      if (owner !== undefined) owner.dependents++
    }
    if (activation.parent !== undefined) activation.parent.dependents++
    else this.#claim(activation)
    this.#agenda.running = row
    hold()
    try {
      const returned = runMarked(activation.mark, () => activation.run())
      if (isThenable(returned)) this.#await(activation, returned)
      else this.#ended(activation)
    } catch (error) {
      this.#ended(activation, failureOf(activation, error))
    }
  }

  /** It has to go: an activation under way is cancelled, the others close when nothing depends on them any more. */
  doom(activation: Activation, error?: Error): void {
    const { row } = activation.unit
    if (activation.isLive && activation.parent === undefined && error === undefined) this.#observer.shaken(row)
    activation.doomed = true
    activation.error = error
    this.#agenda.leave(row, 1)
    if (activation.state === 'activating') activation.scope.cancel()
    else this.#agenda.closeWhenFree(activation)
    if (activation.parent === undefined) this.#observer.phase(row)
  }

  close(activation: Activation): void {
    activation.state = 'closing'
    activation.since = performance.now()
    for (const provision of activation.offers) {
      if (provision.slot.provision !== provision) continue
      provision.slot.provision = undefined
      this.#observer.offered(provision, 'withdrawn')
      // What failed with it, or waited for more than it, may now be something else.
      for (const unit of provision.slot.interested) if (unit.activation === undefined) this.#agenda.waiting.add(unit)
    }
    if (activation.scope.shut()) this.#closed(activation)
    else {
      void activation.scope.quiescence().then(() => {
        this.#closed(activation)
        this.#agenda.schedule()
      })
    }
  }

  /** Forks that take from each other what they bring may have no state to come to rest in. Such a fork is dropped, or they would flip for ever. */
  #isRestless(fork: ForkUnit): boolean {
    const { commands } = this.#agenda
    if (fork.starts.since !== commands) fork.starts = { since: commands, count: 0 }
    if (++fork.starts.count <= MOST_STARTS) return false
    const what = `row "${fork.row.id}": a fork on ${fork.needs.map(({ key }) => `"${key}"`).join(', ')} flips without end and was dropped`
    this.#observer.fault(fork.row, 'fork body', new KernelError('CAPABILITY_CYCLE', `${what}; what forks bring must not take away what they need`))
    this.#agenda.drop(fork)
    return true
  }

  /** Claims everything the row may provide, against rivals, until the activation has closed. */
  #claim(activation: Activation): void {
    const { row } = activation.unit
    if (row.provides.length > 0) activation.claimed = [...row.provides]
    for (const slot of row.provides) {
      slot.holder = row
      if (slot.claimants.length > 1) this.#agenda.setback = true
    }
    row.kept?.begin(activation)
    this.#observer.phase(row)
  }

  #await(activation: Activation, body: PromiseLike<void>): void {
    const { row } = activation.unit
    const { activationMs } = activation.settings.budgets
    const end = (error?: Error): void => {
      this.#ended(activation, error)
      this.#agenda.schedule()
    }
    this.#agenda.running = undefined
    this.#agenda.move(row, 1)
    activation.timer = setTimeout(() => {
      const what = `row "${row.id}": ${activation.mark.what} took longer than ${activationMs} ms; make it faster or raise its budget`
      const error = new KernelError('ACTIVATION_TIMEOUT', what)
      activation.scope.cancel()
      if (activation.doomed) this.#observer.fault(row, activation.mark.what, error)
      end(error)
    }, activationMs)
    body.then(
      () => end(),
      (error: unknown) => end(failureOf(activation, error)),
    )
  }

  /** The body has returned, failed, or overrun its budget; only the first of these counts. */
  #ended(activation: Activation, error?: Error): void {
    if (activation.state !== 'activating') return
    activation.state = 'live'
    activation.mark.open = false
    release()
    const { row } = activation.unit
    if (activation.timer === undefined) this.#agenda.running = undefined
    else {
      clearTimeout(activation.timer)
      this.#agenda.move(row, -1)
    }
    if (activation.doomed) this.#agenda.closeWhenFree(activation)
    else if (error === undefined) this.#publish(activation)
    else {
      this.doom(activation, error)
      if (activation.parent !== undefined) this.#observer.fault(row, 'fork body', error)
    }
  }

  #publish(activation: Activation): void {
    const { unit, offers, parent } = activation
    const { row } = unit
    if (offers.length > 0) this.#offer(offers)
    if (activation.forks.length > 0) for (const fork of activation.forks) this.#agenda.look(fork)
    // What it might have provided and does not is not coming, and its rivals are out of the race.
    if (row.provides.length > offers.length || row.provides.some(({ claimants }) => claimants.length > 1)) this.#agenda.setback = true
    if (row.kept !== undefined) this.#observer.succeeded(row.kept, activation)
    if (parent !== undefined) return
    row.times = { activationMs: performance.now() - activation.since, closingMs: row.times?.closingMs }
    this.#observer.phase(row)
  }

  #offer(offers: readonly Provision[]): void {
    for (const provision of offers) provision.slot.provision = provision
    for (const provision of offers) {
      this.#observer.offered(provision, 'provided')
      for (const waiter of provision.slot.interested) this.#agenda.look(waiter)
    }
  }

  #closed(activation: Activation): void {
    const { unit, error, branch, bound, desired, parent } = activation
    const { row } = unit
    for (const { users, owner } of bound) {
      users.delete(activation)
      this.#release(owner)
    }
    this.#release(parent)
    for (const fork of activation.forks) this.#agenda.drop(fork)
    if (row.kept !== undefined) this.#observer.closed(row.kept, activation)
    unit.activation = undefined
    if (error !== undefined) unit.failure = { error, branch, bound, desired }
    for (const slot of activation.claimed) {
      slot.holder = undefined
      for (const rival of slot.claimants) if (rival !== row) this.#agenda.waiting.add(rival)
    }
    this.#agenda.leave(row, -1)
    this.#agenda.setback = true
    if (unit.wanted) this.#agenda.waiting.add(unit)
    if (unit !== row) return
    if (row.times !== undefined) row.times.closingMs = performance.now() - activation.since
    if (row.wanted) this.#observer.phase(row, error)
    else this.#observer.gone(row)
  }

  #release(provider: Activation | undefined): void {
    if (provider === undefined) return
    provider.dependents--
    this.#agenda.closeWhenFree(provider)
  }
}

function failureOf(activation: Activation, thrown: unknown): Error {
  const cause = asError(thrown)
  const what = `row "${activation.unit.row.id}": ${activation.mark.what} failed: ${cause.message}`
  return new KernelError('ACTIVATION_FAILED', what, { cause })
}
