/** Small and repeatable: https://en.wikipedia.org/wiki/Linear_congruential_generator */
export function random(seed: number): () => number {
  let state = seed
  return () => {
    state = (state * 1_664_525 + 1_013_904_223) % 2 ** 32
    return state / 2 ** 32
  }
}
