/**
 * Resolves when everything that can go on without a timer, an input or a gate has done so: all microtasks run before an
 * immediate does. The rounds are for work that crosses immediates itself.
 */
export async function drained(rounds = 3): Promise<void> {
  for (let round = 0; round < rounds; round++) await new Promise<void>((resolve) => setImmediate(resolve))
}
