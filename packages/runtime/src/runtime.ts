import { asError, type Capability, Emitter, type Kernel, type Logger } from '@tenon/kernel'
import { type AppliedEdit, applyPlan } from './apply-plan.ts'
import type { CatalogEdit } from './catalog-edit.ts'
import { type CatalogCheck, type CheckReport, once } from './check.ts'
import type { Composition } from './composition.ts'
import { CompositionError, RuntimeError } from './errors.ts'
import { FileWatch } from './file-watch.ts'
import { activeRows } from './plan-edit.ts'
import type { LoadOutcome } from './plugin-loader.ts'
import { type PluginSource, sourceKey } from './plugin-source.ts'
import { tellingSlowRows, warnOfUnoffered } from './row-watch.ts'
import { fingerprintOf, type SourceFiles, stillHold } from './source-files.ts'
import { overlay } from './standing-edit.ts'

export type RuntimeEvent =
  /** An edit that a watched file brought about; `edit.rolledBack` says if it was taken back. */
  | { readonly type: 'edited'; readonly edit: AppliedEdit }
  /** A watched file cannot be applied; everything is as it was. */
  | { readonly type: 'refused'; readonly error: Error }

/** @internal What `openRuntime` has made ready. */
export interface RuntimeParts {
  readonly kernel: Kernel
  readonly check: CatalogCheck
  readonly report: CheckReport
  readonly edit: CatalogEdit
  readonly logger: Logger | undefined
  readonly slowRowMs: number | undefined
}

/** An open composition. Edits queue: each is checked against the settled result of the one before. */
export class Runtime implements AsyncDisposable {
  readonly kernel: Kernel
  readonly events = new Emitter<RuntimeEvent>()
  readonly #check: CatalogCheck
  readonly #logger: Logger | undefined
  readonly #slowRowMs: number | undefined
  #composition: Composition
  #edit: CatalogEdit
  #watch: FileWatch | undefined
  /** To apply what the watched files hold. */
  #attempts = 0
  #queue: Promise<unknown> = Promise.resolve()
  #closing: Promise<void> | undefined

  /** @internal */
  constructor({ kernel, check, report, edit, logger, slowRowMs }: RuntimeParts) {
    this.kernel = kernel
    this.#check = check
    this.#logger = logger
    this.#slowRowMs = slowRowMs
    this.#composition = report.composition
    this.#edit = edit
  }

  /** The one that runs; an edit that was refused or taken back does not show. */
  get composition(): Composition {
    return this.#composition
  }

  get<T>(capability: Capability<T>): T | undefined {
    return this.kernel.get(capability)
  }

  /**
   * Lays an edit over the catalog file, or changes to another composition. Nothing is written to a file. An edit stays until another
   * one says otherwise, also when the file changes under it; a part whose row or option is gone is dropped, with a warning.
   * @throws RuntimeError COMPOSITION_INVALID before anything has changed (a CompositionError with diagnostics, for an edit); RUNTIME_CLOSED
   */
  apply(change: CatalogEdit | Composition): Promise<AppliedEdit> {
    return this.#enqueue(async () => {
      if ('rows' in change) return this.#adopt(change)
      return this.#revise(change, (source) => this.#kept(source))
    })
  }

  /**
   * Loads the code of a row anew, with all it imports inside its package, and swaps it in once it loads and fits. Rows that share the
   * code change with it.
   * @throws CompositionError if the code does not load or its config does not fit, before anything has changed; RuntimeError ROW_UNKNOWN
   */
  reload(id: string): Promise<AppliedEdit> {
    return this.#enqueue(async () => {
      const row = activeRows(this.#composition).find((candidate) => candidate.id === id)
      if (row === undefined) throw this.#unknown(id)
      const wanted = sourceKey(row.loaded.source)
      return this.#revise({}, (source) => (sourceKey(source) === wanted ? this.#check.loader.reload(source) : this.#kept(source)))
    })
  }

  /** Dependents first, all that was kept last; later calls wait for the same. An edit under way is cancelled, and rejects with RUNTIME_CLOSED. */
  close(): Promise<void> {
    this.#watch?.close()
    this.#closing ??= this.kernel.close()
    return this.#closing
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }

  /** @internal Follows the catalog files and the sources of rows given by path. */
  follow(report: CheckReport): void {
    this.#watch ??= new FileWatch({
      quietMs: 50,
      changed: () => void this.#filesChanged(),
      failed: (folder, error) => this.#logger?.warn({ err: error, folder }, 'changes in this folder are not followed'),
    })
    this.#watch.follow(report.watched)
  }

  async #filesChanged(): Promise<void> {
    if (this.#closing !== undefined) return
    const attempt = ++this.#attempts
    try {
      // What was read counts as seen, whatever comes of it: what does not fit, or was rolled back, is tried again when a file changes.
      const seen = (files: SourceFiles): void => this.#watch?.follow(files)
      const edit = await this.#enqueue(() => this.#revise({}, (source) => this.#fresh(source), seen))
      if (edit.rolledBack !== undefined && this.events.listenerCount === 0) this.#logger?.error({ err: edit.rolledBack }, 'an edit was rolled back')
      this.events.emit({ type: 'edited', edit })
    } catch (thrown) {
      const error = asError(thrown)
      // A file that was read half written is no news: the whole of it is on its way, or read by a later attempt.
      const lasts = this.#closing === undefined && (await this.#watch?.lasts()) === true
      if (this.#closing !== undefined || !lasts || attempt !== this.#attempts) return
      // Whoever listens tells it in words of its own.
      if (this.events.listenerCount === 0) this.#logger?.warn({ err: error }, 'a changed file was not applied')
      this.events.emit({ type: 'refused', error })
    }
  }

  /** Reads everything again: the file may have changed since, followed or not. */
  async #revise(
    asked: CatalogEdit,
    load: (source: PluginSource) => Promise<LoadOutcome>,
    follow = (files: SourceFiles): void => this.#watch?.include(files),
  ): Promise<AppliedEdit> {
    const loadOnce = once(load)
    const { edit, report, dropped } = await overlay(this.#edit, asked, (whole) => this.#check.run(this.#composition.file, whole, loadOnce))
    // Also if it is refused: the file that was just added is the one that will be mended.
    follow(report.watched)
    if (!report.ok) throw new CompositionError(report.composition.file, report.diagnostics)
    const applied = await this.#change(report.composition, edit)
    if (dropped.length === 0 || applied.rolledBack !== undefined) return applied
    for (const { row, message } of dropped) this.#logger?.warn({ row }, message)
    return { ...applied, dropped }
  }

  async #change(next: Composition, edit: CatalogEdit): Promise<AppliedEdit> {
    const applied = await tellingSlowRows(this.kernel, this.#logger, () => applyPlan(this.kernel, this.#composition, next), this.#slowRowMs)
    if (applied.rolledBack === undefined || applied.stands === true) {
      this.#composition = next
      this.#edit = edit
    }
    const { added, removed, reconfigured, replaced, rolledBack } = applied
    if (rolledBack === undefined) {
      this.#logger?.info({ added, removed, reconfigured, replaced }, 'composition edited')
      warnOfUnoffered(this.kernel, this.#logger, new Set([...added, ...replaced]))
    }
    return applied
  }

  async #adopt(composition: Composition): Promise<AppliedEdit> {
    const broken = composition.rows.find(({ state, optional }) => state === 'broken' && !optional)
    if (broken !== undefined) throw new RuntimeError('COMPOSITION_INVALID', `row "${broken.id}" cannot run: ${broken.why ?? 'it is broken'}`)
    const sources = composition.rows.flatMap(({ loaded }) => [...(loaded?.files ?? [])])
    const files = await Promise.all(composition.files.map(async (file) => [file, await fingerprintOf(file)] as const))
    this.#watch?.follow(new Map([...files, ...sources]))
    return this.#change(this.#withRunningCode(composition), {})
  }

  /** A composition that was checked elsewhere brings code of its own; where it is what runs already, that stays. */
  #withRunningCode(next: Composition): Composition {
    const running = activeRows(this.#composition)
    const rows = next.rows.map((row) => {
      const same = running.find(
        ({ loaded: { source, code } }) => row.loaded !== undefined && sourceKey(source) === sourceKey(row.loaded.source) && code === row.loaded.code,
      )
      return same === undefined ? row : { ...row, loaded: { ...same.loaded, files: row.loaded?.files ?? same.loaded.files } }
    })
    return { ...next, rows }
  }

  /** Code that runs stays as it is, whatever its file holds now. */
  async #kept(source: PluginSource): Promise<LoadOutcome> {
    const key = sourceKey(source)
    const row = activeRows(this.#composition).find(({ loaded }) => sourceKey(loaded.source) === key)
    return row === undefined ? this.#check.loader.load(source) : { ok: true, ...row.loaded }
  }

  /**
   * Code whose files hold something else than what runs is loaded anew, and counts as changed only if it is another. All of it, not only
   * what has just been written: two files that change together are seldom saved together.
   */
  async #fresh(source: PluginSource): Promise<LoadOutcome> {
    const kept = await this.#kept(source)
    if (!kept.ok || (await stillHold(kept.files))) return kept
    const loaded = await this.#check.loader.load(source)
    return loaded.ok && loaded.code === kept.code ? { ...kept, files: loaded.files } : loaded
  }

  #unknown(id: string): RuntimeError {
    const row = this.#composition.rows.find((candidate) => candidate.id === id)
    if (row !== undefined) return new RuntimeError('ROW_UNKNOWN', `row "${id}" is not running: ${row.why ?? row.state}`)
    return new RuntimeError('ROW_UNKNOWN', `there is no row "${id}"; rows: ${this.#composition.rows.map((known) => known.id).join(', ')}`)
  }

  #enqueue<T>(work: () => Promise<T>): Promise<T> {
    const assertOpen = (cause?: unknown): void => {
      if (this.#closing !== undefined) throw new RuntimeError('RUNTIME_CLOSED', 'the runtime is closed', cause === undefined ? {} : { cause })
    }
    const result = this.#queue.then(async () => {
      assertOpen()
      try {
        return await work()
      } catch (error) {
        assertOpen(error)
        throw error
      }
    })
    this.#queue = result.catch(() => undefined)
    return result
  }
}
