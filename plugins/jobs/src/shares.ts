/**
 * Divides `total` among those that need something: equal parts, and what one does not need goes to the others. Nobody gets less than
 * `least` of what it needs unless that is all: then the last ones get nothing this time.
 */
export function shares(needs: readonly number[], total: number, least: number): readonly number[] {
  const wanting = [...needs.keys()].filter((at) => (needs[at] ?? 0) > 0)
  while (wanting.length > 1 && total / wanting.length < least) wanting.pop()
  const given = needs.map(() => 0)
  let left = total
  const modestFirst = wanting.sort((a, b) => (needs[a] ?? 0) - (needs[b] ?? 0))
  modestFirst.forEach((at, served) => {
    const share = Math.min(needs[at] ?? 0, Math.floor(left / (modestFirst.length - served)))
    given[at] = share
    left -= share
  })
  return given
}
