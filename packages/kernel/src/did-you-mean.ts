import { distance } from 'fastest-levenshtein'

/** The candidate that was probably meant: near in spelling, ignoring case, `-` and `_`. */
export function didYouMean(wrong: string, candidates: Iterable<string>): string | undefined {
  const bare = (name: string): string => name.toLowerCase().replace(/[-_]/g, '')
  let best: string | undefined
  let least = Math.max(1, Math.floor(wrong.length / 3)) + 1
  for (const candidate of candidates) {
    const steps = slips(bare(wrong), bare(candidate))
    if (steps < least) {
      least = steps
      best = candidate
    }
  }
  return best
}

/** Two letters that changed places are one slip, though two edits. */
function slips(a: string, b: string): number {
  const edits = distance(a, b)
  return edits === 2 && [...a].sort().join('') === [...b].sort().join('') ? 1 : edits
}
