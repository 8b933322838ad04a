/** What one spec file of one copy said; one line of the report. */
export interface FileReport {
  readonly project: string
  /** Errors outside of any test: the file did not load. */
  readonly errors: readonly string[]
  readonly tests: readonly {
    readonly name: string
    readonly state: 'passed' | 'failed' | 'skipped' | 'pending'
    readonly error?: string | undefined
  }[]
}

/**
 * - `killed`: a test failed, whose name is told.
 * - `survived`: every test passed.
 * - `broken`: nothing was judged, since a file could not be loaded, no test ran, or the process stopped answering. That is no kill: a
 *   fault which does not even load would be noticed by anybody.
 */
export type Fate =
  | { readonly is: 'killed'; readonly by: string; readonly why: string }
  | { readonly is: 'survived'; readonly tests: number }
  | { readonly is: 'broken'; readonly why: string }

/** What the spec files of one project, of which there are `count`, say together. */
export function fateOf(reports: readonly FileReport[], project: string, count: number): Fate {
  const own = reports.filter((report) => report.project === project)
  const tests = own.flatMap((report) => report.tests)
  const failed = tests.find(({ state }) => state === 'failed')
  if (failed !== undefined) return { is: 'killed', by: failed.name, why: failed.error ?? '' }
  const unloaded = own.find(({ errors }) => errors.length > 0)
  if (unloaded !== undefined) return { is: 'broken', why: unloaded.errors.join('\n') }
  if (own.length < count) return { is: 'broken', why: `${count - own.length} of ${count} files never ended: something blocks the process` }
  const passed = tests.filter(({ state }) => state === 'passed').length
  return passed === 0 ? { is: 'broken', why: 'no test ran' } : { is: 'survived', tests: passed }
}
