/**
 * Gives each its part of `total`: equal parts, and what one does not use goes to the others. The most modest is served first, so that
 * this is known in time; the last gets all that is left.
 * @param take what one uses of at most so much
 */
export function inShares(needs: readonly number[], total: number, take: (at: number, most: number) => number): void {
  const modestFirst = [...needs.keys()].sort((a, b) => (needs[a] ?? 0) - (needs[b] ?? 0))
  let left = total
  modestFirst.forEach((at, served) => {
    left -= take(at, Math.max(0, Math.floor(left / (modestFirst.length - served))))
  })
}
