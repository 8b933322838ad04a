import { dirname } from 'node:path'
import { fileURLToPath } from 'node:url'
import { beforeAll, describe, expect, it } from 'vitest'
import type { Fate } from './mutations/fate.ts'
import { kernelMutants } from './mutations/kernel-mutants.ts'
import { CONTROL, fatesOf } from './mutations/laboratory.ts'
import { type Mutant, triedByModel } from './mutations/mutant.ts'

/** Set to `all` where there is time for all of them; otherwise one in seven is planted. */
const isAll = process.env.TENON_MUTATIONS === 'all'
const planted = kernelMutants.filter((_, index) => isAll || index % 7 === 0)
const trials = planted.flatMap((mutant) => (mutant.byModel === true ? [mutant, triedByModel(mutant)] : [mutant]))

/** Whether the laboratory can tell: these are no faults. */
const harmless: Mutant = {
  name: 'harmless',
  fault: 'none',
  file: 'scope.ts',
  find: "this.#state = 'closed'",
  replacement: "void 0; this.#state = 'closed'",
  specs: ['scope.effects.spec.ts'],
}
const unreadable: Mutant = { ...harmless, name: 'unreadable', fault: 'a syntax error', replacement: '(' }

/** Many times what all of them take on a quiet machine; a fault that blocks its process is ended then, and told. */
const TIMEOUT_MS = 420_000

let fates: ReadonlyMap<string, Fate> = new Map()
beforeAll(async () => {
  fates = await fatesOf([...trials, harmless, unreadable], dirname(dirname(fileURLToPath(import.meta.url))), AbortSignal.timeout(TIMEOUT_MS))
}, TIMEOUT_MS + 10_000)

describe('the kernel without a fault', () => {
  it('KN-37 passes the specs that are to notice faults', () => {
    expect(fates.get(CONTROL)).toMatchObject({ is: 'survived' })
  })

  it('KN-37 a change that is no fault survives, and code that does not load is no kill', () => {
    expect(fates.get(harmless.name)).toMatchObject({ is: 'survived' })
    expect(fates.get(unreadable.name)).toMatchObject({ is: 'broken' })
  })
})

describe('a planted fault', () => {
  it.each(trials.map(({ name, fault }) => [name, fault]))('KN-37 %s is noticed: %s', (name) => {
    expect(fates.get(name)).toMatchObject({ is: 'killed' })
  })
})
