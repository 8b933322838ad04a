import type { Kernel } from '@tenon/kernel'
import type { Composition } from './composition.ts'
import type { Diagnostic } from './diagnostic.ts'
import { NotActiveError } from './errors.ts'
import { activeRows, type EditPlan, isEmpty, perform, planEdit, touched } from './plan-edit.ts'

/** What became of an edit; the lists hold row ids. */
export interface AppliedEdit {
  readonly added: readonly string[]
  readonly removed: readonly string[]
  readonly reconfigured: readonly string[]
  readonly replaced: readonly string[]
  readonly untouched: readonly string[]
  /** Why all of it was taken back: the last good composition runs. */
  readonly rolledBack?: Error
  /** It was to be taken back, as `rolledBack` says, but what was there before failed too: the new composition runs, without the rows that are dead. */
  readonly stands?: true
  /** Parts of earlier edits that no longer apply and stand no more: a warning each, which says why. */
  readonly dropped?: readonly Diagnostic[]
}

/** Diff, one transaction, verify; an edit that leaves a required row without life is taken back. */
export async function applyPlan(kernel: Kernel, current: Composition, next: Composition): Promise<AppliedEdit> {
  const plan = planEdit(current, next)
  const applied = reportOf(plan)
  if (isEmpty(plan)) return applied
  const running = new Set(
    activeRows(current)
      .filter(({ id }) => kernel.row(id)?.phase === 'active')
      .map(({ id }) => id),
  )
  const report = await perform(plan, kernel)
  if (report.outcome === 'rolled-back') return { ...applied, rolledBack: report.error ?? new Error('the edit was rolled back') }
  const concerned = new Set([...running, ...touched(plan).map(({ id }) => id)])
  const required = activeRows(next).filter(({ id, optional }) => !optional && concerned.has(id))
  const dead = required.filter(({ id }) => kernel.row(id)?.phase !== 'active')
  if (dead.length === 0) return applied
  const causes = dead.map(({ id }) => kernel.explain(id))
  const back = await perform(planEdit(next, current), kernel)
  if (back.outcome === 'committed') {
    return { ...applied, rolledBack: new NotActiveError('the edit was taken back, since it left required rows inactive', causes, next.rows) }
  }
  const why = `the edit left required rows inactive, and could not be taken back: ${back.error?.message ?? ''}`
  return { ...applied, rolledBack: new NotActiveError(why, causes, next.rows), stands: true }
}

function reportOf(plan: EditPlan): AppliedEdit {
  const ids = (rows: readonly { readonly id: string }[]): readonly string[] => rows.map(({ id }) => id)
  return {
    added: ids(plan.added),
    removed: ids(plan.removed),
    reconfigured: ids(plan.reconfigured),
    replaced: ids(plan.replaced),
    untouched: plan.untouched,
  }
}
