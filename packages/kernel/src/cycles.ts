import type { RowUnit, Slot } from './world.ts'

/**
 * A ring of static needs that `start` hangs on, as `a → capability → b → … → a`, or undefined. A need that nobody provides is
 * missing, not circular; one that several rows provide is circular only if all of them hang on a ring.
 */
export function findCycle(start: RowUnit): string | undefined {
  // The usual load, whose needs are there and which nobody waits for yet, closes no ring.
  if (!start.provides.some(({ interested }) => interested.size > 0)) return undefined
  const needed = new Map<Slot, RowUnit[]>()
  const open = new Map<RowUnit, number>()
  const grounded: RowUnit[] = []
  const upstream = [start]
  for (let row = upstream.pop(); row !== undefined; row = upstream.pop()) {
    if (open.has(row)) continue
    const needs = row.needs.filter(({ claimants }) => claimants.length > 0)
    open.set(row, needs.length)
    if (needs.length === 0) grounded.push(row)
    for (const slot of needs) {
      const users = needed.get(slot)
      if (users !== undefined) users.push(row)
      else needed.set(slot, [row])
      upstream.push(...slot.claimants)
    }
  }
  for (let row = grounded.pop(); row !== undefined; row = grounded.pop()) {
    open.delete(row)
    for (const slot of row.provides) {
      for (const user of needed.get(slot) ?? []) {
        const left = (open.get(user) ?? 0) - 1
        open.set(user, left)
        if (left === 0) grounded.push(user)
      }
      needed.delete(slot)
    }
  }
  return open.has(start) ? walk(start, needed) : undefined
}

/** Follows needs that stayed open until a row comes twice. */
function walk(start: RowUnit, open: ReadonlyMap<Slot, unknown>): string {
  const rows: RowUnit[] = []
  const path: string[] = []
  let row = start
  while (!rows.includes(row)) {
    const slot = row.needs.find((need) => open.has(need))
    const next = slot?.claimants[0]
    if (slot === undefined || next === undefined) break
    rows.push(row)
    path.push(`${row.id} → ${slot.key}`)
    row = next
  }
  return [...path.slice(rows.indexOf(row)), row.id].join(' → ')
}
