import type { Activation } from './activation.ts'
import { ForkUnit, isOutdated, type RowUnit, type Slot, type Unit, usable } from './world.ts'

/**
 * Can the needs of `goal` be met by what is up or coming up? The least fixed point over everything upstream, so a ring of rows that
 * only wait for each other brings nothing. Slots in `exclusive` count as brought by nobody: whoever competes for a capability
 * must not count on a competitor to bring it. What a unit brings is known only once it is up, and of a fork not even which branch
 * brings it; so the answer errs towards yes, and is asked again after every setback. A no would be final: who loses a slot for it
 * does not get it back.
 */
export function canArise(goal: Unit, exclusive: readonly Slot[] = []): boolean {
  const competes = (row: RowUnit): boolean => row !== goal && row.provides.some((slot) => exclusive.includes(slot))
  const waiting = new Map<Slot, Unit[]>()
  const missing = new Map<Unit, number>()
  const ready: Unit[] = []
  const upstream = [goal]
  for (let unit = upstream.pop(); unit !== undefined; unit = upstream.pop()) {
    if (missing.has(unit)) continue
    const needs = unit !== goal && (isComingUp(unit) || hasWayOut(unit)) ? [] : unit.needs.filter((slot) => usable(slot, unit) === undefined)
    missing.set(unit, needs.length)
    if (needs.length === 0) ready.push(unit)
    for (const slot of needs) {
      const waiters = waiting.get(slot)
      if (waiters !== undefined) {
        waiters.push(unit)
        continue
      }
      waiting.set(slot, [unit])
      for (const row of slot.claimants) if (!competes(row)) upstream.push(...bringers(slot, row))
    }
  }
  for (let unit = ready.pop(); unit !== undefined; unit = ready.pop()) {
    if (unit === goal) return true
    for (const slot of unit.row.provides) {
      for (const waiter of waiting.get(slot) ?? []) {
        const left = (missing.get(waiter) ?? 0) - 1
        missing.set(waiter, left)
        if (left === 0) ready.push(waiter)
      }
      waiting.delete(slot)
    }
  }
  return false
}

/** What of a claimant may still bring the slot: the row itself while it is not up, then forks of it that are not, or not with `present`. */
export function bringers(slot: Slot, row: RowUnit): Unit[] {
  // A holder that is not up yet may fail and free the slot.
  const free = row.provides.every(({ holder }) => holder === undefined || holder === row || holder.activation?.isLive !== true)
  if (!free || slot.provision?.owner?.doomed === false) return []
  return notUp(row)
}

function notUp(unit: Unit): Unit[] {
  const { activation, failure } = unit
  // A fork that flipped without end is dropped, though its row still lists it.
  if (!unit.wanted) return []
  if (activation === undefined) return failure?.branch === 'present' && !isOutdated(failure, unit) ? [] : [unit]
  if (activation.doomed || isComingUp(unit)) return [unit]
  const forks = [...activation.forks].flatMap(notUp)
  return activation.branch === 'otherwise' ? [unit, ...forks] : forks
}

/** With an `otherwise` still to be had, a fork comes up whatever becomes of its needs. */
function hasWayOut(unit: Unit): boolean {
  return unit instanceof ForkUnit && unit.otherwise !== undefined && unit.activation?.doomed !== false && unit.failure?.branch !== 'otherwise'
}

function isComingUp({ activation }: { readonly activation: Activation | undefined }): boolean {
  return activation?.state === 'activating' && !activation.doomed
}
