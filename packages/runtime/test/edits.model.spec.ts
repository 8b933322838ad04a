import type { FirstPartyPlugin } from '@tenon/catalog'
import { capability, definePlugin } from '@tenon/kernel'
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { z } from 'zod'
import { type CatalogEdit, CompositionError, openRuntime } from '../src/index.ts'
import { folder } from './folder.ts'
import { quiet } from './journal.ts'

/** Row i needs what these rows provide. */
const NEEDS: readonly (readonly number[])[] = [[], [0], [0, 1], [], [3], [2, 4]]
const ids = NEEDS.map((_, index) => `r${index}`)
const capabilities = ids.map((id) => capability<object>(`${id}-thing`))

interface World {
  /** Config of each enabled row. */
  readonly rows: ReadonlyMap<number, number>
}

/** Plugins that note each activation: row and config. */
function plugins(activated: string[]): readonly FirstPartyPlugin[] {
  return NEEDS.map((needs, index) => {
    const plugin = definePlugin({
      name: `r${index}`,
      inject: needs.map((need) => capabilities[need] as (typeof capabilities)[number]),
      provides: [capabilities[index] as (typeof capabilities)[number]],
      config: z.strictObject({ n: z.number() }),
      activate(scope) {
        activated.push(`r${index}=${scope.config.n}`)
        scope.provide(capabilities[index] as (typeof capabilities)[number], {})
      },
    })
    return { name: `r${index}`, load: async () => ({ default: plugin }) }
  })
}

const edit = fc.record({
  set: fc.dictionary(fc.constantFrom(...ids), fc.nat(3), { maxKeys: 3 }),
  flip: fc.dictionary(fc.constantFrom(...ids), fc.boolean(), { maxKeys: 3 }),
})

function catalogEdit({
  set,
  flip,
}: {
  readonly set: Readonly<Record<string, number>>
  readonly flip: Readonly<Record<string, boolean>>
}): CatalogEdit {
  const flipped = (on: boolean): readonly string[] => Object.keys(flip).filter((id) => flip[id] === on)
  return { set: Object.fromEntries(Object.entries(set).map(([id, n]) => [`${id}.n`, n])), enable: flipped(true), disable: flipped(false) }
}

/** What the rows should be after an edit; configs of disabled rows are remembered in `all`. */
function worldAfter(all: Map<number, number>, on: Set<number>): World {
  return { rows: new Map([...all].filter(([index]) => on.has(index))) }
}

const fits = ({ rows }: World): boolean => [...rows.keys()].every((index) => (NEEDS[index] ?? []).every((need) => rows.has(need)))

/** Rows that are new or changed, and all that depend on one of them. */
function restarted(before: World, after: World): ReadonlySet<number> {
  const touched = new Set([...after.rows].filter(([index, n]) => before.rows.get(index) !== n).map(([index]) => index))
  for (const [index, needs] of NEEDS.entries()) if (after.rows.has(index) && needs.some((need) => touched.has(need))) touched.add(index)
  return touched
}

it('CP-08 any sequence of edits: what fits is there afterwards, only what had to was restarted, once; what does not fit changes nothing', {
  timeout: 60_000,
}, async () => {
  const text = `plugins:\n${ids.map((id) => `  ${id}: { use: ${id}, with: { n: 0 } }\n`).join('')}`
  const dir = await folder({ 'top.yaml': text })
  await fc.assert(
    fc.asyncProperty(fc.array(edit, { minLength: 1, maxLength: 6 }), async (edits) => {
      const activated: string[] = []
      await using runtime = await openRuntime({ catalog: dir.file('top.yaml'), firstParty: plugins(activated), logger: quiet })
      let all = new Map(ids.map((_, index) => [index, 0]))
      let on = new Set(all.keys())
      for (const step of edits) {
        activated.length = 0
        const [wantedAll, wantedOn] = [new Map(all), new Set(on)]
        for (const [id, n] of Object.entries(step.set)) wantedAll.set(Number(id.slice(1)), n)
        for (const [id, enabled] of Object.entries(step.flip)) enabled ? wantedOn.add(Number(id.slice(1))) : wantedOn.delete(Number(id.slice(1)))
        const [before, after] = [worldAfter(all, on), worldAfter(wantedAll, wantedOn)]
        const outcome: unknown = await runtime.apply(catalogEdit(step)).catch((error: unknown) => error)
        if (fits(after)) {
          expect(outcome).not.toBeInstanceOf(Error)
          expect(activated.toSorted()).toEqual([...restarted(before, after)].map((index) => `r${index}=${after.rows.get(index)}`).toSorted())
          ;[all, on] = [wantedAll, wantedOn]
        } else {
          expect(outcome).toBeInstanceOf(CompositionError)
          expect(activated).toEqual([])
        }
        const active = runtime.kernel.inspect().rows.filter(({ phase }) => phase === 'active')
        expect(active.map(({ id }) => id).toSorted()).toEqual([...on].map((index) => `r${index}`).toSorted())
      }
    }),
    { numRuns: 150 },
  )
})
