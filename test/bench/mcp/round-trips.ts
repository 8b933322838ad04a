import { wallClock } from '../measuring/clock.ts'
import { Served } from './servers.ts'

const WARM_UP_CALLS = 200

/** Milliseconds from the call to the result: the mean of each round, and all single values. */
export async function roundTrips(rounds: number, calls: number): Promise<Record<string, number[]>> {
  await using tenon = await Served.start('tenon')
  await using bare = await Served.start('bare')
  for (let call = 0; call < Math.min(WARM_UP_CALLS, rounds * calls); call++) for (const server of [tenon, bare]) await server.bash('true')
  const measured = { tenon: [] as number[], bare: [] as number[], allTenon: [] as number[], allBare: [] as number[] }
  for (let round = 0; round < rounds; round++) {
    const ofRound = { tenon: 0, bare: 0 }
    for (let call = 0; call < calls; call++) {
      const [ofTenon, ofBare] = [await trip(tenon), await trip(bare)]
      measured.allTenon.push(ofTenon)
      measured.allBare.push(ofBare)
      ofRound.tenon += ofTenon
      ofRound.bare += ofBare
    }
    measured.tenon.push(ofRound.tenon / calls)
    measured.bare.push(ofRound.bare / calls)
  }
  return measured
}

/** Milliseconds until so many calls that were made at once have all been answered, each with its own result. */
export async function atOnce(rounds: number, calls: number): Promise<Record<string, number[]>> {
  await using tenon = await Served.start('tenon')
  await using bare = await Served.start('bare')
  const measured = { tenon: [] as number[], bare: [] as number[] }
  for (let round = -2; round < rounds; round++) {
    for (const [name, server] of [['tenon', tenon] as const, ['bare', bare] as const]) {
      const elapsed = wallClock()
      await Promise.all(Array.from({ length: calls }, (_, n) => server.bash(`echo ${n}`, `${n}\n`)))
      if (round >= 0) measured[name].push(elapsed())
    }
  }
  return measured
}

async function trip(server: Served): Promise<number> {
  const elapsed = wallClock()
  await server.bash('true')
  return elapsed()
}
