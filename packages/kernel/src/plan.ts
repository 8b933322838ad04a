import type { Activation } from './activation.ts'
import { bringers, canArise } from './prospects.ts'
import { type Branch, inOrder, isOutdated, RowUnit, type Slot, type Unit, usable } from './world.ts'

/*
 * What is to be done next, as a pure function of the world. Invariants:
 *
 *  1. A unit (row or fork) is live iff it is wanted, each of its needs has a provision, it is bound to the current ones, its own
 *     desired state is the one it was activated with, and its parent is active.
 *  2. Of a fork at most one branch is alive: `present` while its needs are there, `otherwise` while they cannot arise.
 *  3. Whoever uses what goes down goes down with it, and so do the forks of what goes down.
 *  4. Nothing closes before everything that depends on it has closed.
 *  5. Nothing comes up while anything is going down.
 *  6. A capability is claimed by one row at a time. Of the rows that want a free one and whose needs can be met, the first in load
 *     order gets it, however long its needs take. Where claimants wait for each other in a ring, the first loaded one that could start does.
 *  7. What failed stays down until one of its inputs is another one.
 *  8. Units come up in load order and go down in reverse.
 */

export interface Start {
  readonly unit: Unit
  readonly branch: Branch
}

/** Everything that has to go down because of the changed units, each activation once (1, 2, 3). */
export function planDown(changed: Iterable<Unit>): Activation[] {
  const down: Activation[] = []
  for (const { activation } of changed) if (activation !== undefined && !activation.doomed && isStale(activation)) down.push(activation)
  return down.length === 0 ? down : withDependents(down)
}

/** The activations, and all that depend on them through a binding or as a fork, transitively; also those that are going already if `isGoing`. */
export function withDependents(activations: readonly Activation[], isGoing = false): Activation[] {
  const all = new Set(activations)
  for (const activation of all) {
    for (const { users } of activation.offers) for (const user of users) if (isGoing || !user.doomed) all.add(user)
    for (const { activation: fork } of activation.forks) if (fork !== undefined && (isGoing || !fork.doomed)) all.add(fork)
  }
  return [...all]
}

/** Which of the waiting units come up now, and which are held back for something that is coming (1, 2, 6, 7, 8). */
export function planUp(waiting: Iterable<Unit>): { up: Start[]; held: Unit[] } {
  const up: Start[] = []
  const held: Unit[] = []
  for (const unit of waiting) {
    const decision = decide(unit)
    if (decision === 'hold') held.push(unit)
    else if (decision !== 'wait') up.push({ unit, branch: decision })
  }
  up.sort((a, b) => inOrder(a.unit, b.unit))
  return { up, held }
}

export function decide(unit: Unit): Branch | 'hold' | 'wait' {
  if (!unit.wanted || unit.activation !== undefined) return 'wait'
  if (!(unit instanceof RowUnit) && !unit.parent.isLive) return 'wait'
  const failed = unit.failure !== undefined && !isOutdated(unit.failure, unit) ? unit.failure.branch : undefined
  if (isMet(unit)) {
    if (failed === 'present') return 'wait'
    return unit instanceof RowUnit ? claims(unit) : 'present'
  }
  if (unit instanceof RowUnit || unit.otherwise === undefined || failed === 'otherwise') return 'wait'
  return canArise(unit) ? 'hold' : 'otherwise'
}

/** A binding never goes stale by itself: who is bound to what goes down goes down with it (3), and before it (4). */
function isStale({ unit, branch, desired, parent }: Activation): boolean {
  if (!unit.wanted || desired !== unit.desired || parent?.doomed === true) return true
  return branch === 'otherwise' && isMet(unit)
}

/** An indexed loop: asked several times for every unit that comes up, most of them before the optimising compiler has seen it. */
function isMet(unit: Unit): boolean {
  const { needs } = unit
  for (let index = 0; index < needs.length; index++) if (usable(needs[index] as Slot, unit) === undefined) return false
  return true
}

function claims(row: RowUnit): 'present' | 'hold' | 'wait' {
  if (row.provides.some(({ holder }) => holder !== undefined && holder !== row)) return 'wait'
  return row.provides.some((slot) => isOutrun(row, slot)) ? 'hold' : 'present'
}

/** Is there a claimant that was loaded before the row, and may still get the slot? */
function isOutrun(row: RowUnit, slot: Slot): boolean {
  const earlier = slot.claimants.slice(0, slot.claimants.indexOf(row))
  return earlier.some((rival) => bringers(slot, rival).length > 0 && canArise(rival, rival.provides))
}
