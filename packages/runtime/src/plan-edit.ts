import { isDeepStrictEqual } from 'node:util'
import type { Kernel, TransactionReport } from '@tenon/kernel'
import type { Composition, CompositionRow } from './composition.ts'
import type { LoadedPlugin } from './plugin-loader.ts'

/** An active row: one the kernel holds. */
export type ActiveRow = CompositionRow & { readonly loaded: LoadedPlugin }

/** What has to happen to the rows of one composition for them to be those of another; the last two lists hold ids. */
export interface EditPlan {
  readonly added: readonly ActiveRow[]
  readonly removed: readonly ActiveRow[]
  readonly reconfigured: readonly ActiveRow[]
  readonly replaced: readonly ActiveRow[]
  /** Of the replaced rows, those that had a config and have none now. */
  readonly bared: readonly string[]
  readonly untouched: readonly string[]
}

/** Compares what rows mean, not how they are written: order, comments and the file a value comes from do not count. */
export function planEdit(current: Composition, next: Composition): EditPlan {
  const before = new Map(activeRows(current).map((row) => [row.id, row]))
  const after = activeRows(next)
  const plan = {
    added: [] as ActiveRow[],
    reconfigured: [] as ActiveRow[],
    replaced: [] as ActiveRow[],
    bared: [] as string[],
    untouched: [] as string[],
  }
  for (const row of after) {
    const old = before.get(row.id)
    if (old === undefined) plan.added.push(row)
    else if (old.loaded.plugin !== row.loaded.plugin) {
      plan.replaced.push(row)
      if (row.config === undefined && old.config !== undefined) plan.bared.push(row.id)
    } else if (!isDeepStrictEqual(old.config, row.config)) plan.reconfigured.push(row)
    else plan.untouched.push(row.id)
  }
  const kept = new Set(after.map(({ id }) => id))
  return { ...plan, removed: [...before.values()].filter(({ id }) => !kept.has(id)) }
}

export function activeRows(composition: Composition): readonly ActiveRow[] {
  return composition.rows.filter((row): row is ActiveRow => row.state === 'active' && row.loaded !== undefined)
}

export function touched(plan: EditPlan): readonly ActiveRow[] {
  return [...plan.added, ...plan.reconfigured, ...plan.replaced]
}

export function isEmpty(plan: EditPlan): boolean {
  return touched(plan).length === 0 && plan.removed.length === 0
}

/** As one transaction: all of it, or none. */
export function perform(plan: EditPlan, kernel: Kernel): Promise<TransactionReport> {
  return kernel.transaction((tx) => {
    for (const { id } of plan.removed) tx.unload(id)
    for (const { id, config } of plan.reconfigured) tx.reconfigure(id, config)
    for (const { id, config, loaded } of plan.replaced) {
      const bared = plan.bared.includes(id)
      // To `replace`, undefined is the config the row has: one that goes away goes in two steps.
      tx.replace(id, loaded.plugin, bared ? {} : config)
      if (bared) tx.reconfigure(id, undefined)
    }
    for (const { id, config, loaded, optional } of plan.added) tx.load(loaded.plugin, config, { id, optional })
  })
}
