import { Kernel, type Logger } from '@tenon/kernel'
import { CatalogCheck, type CheckOptions } from './check.ts'
import type { Composition } from './composition.ts'
import { CompositionError, NotActiveError, RuntimeError } from './errors.ts'
import { activeRows } from './plan-edit.ts'
import { tellingSlowRows, warnOfUnoffered } from './row-watch.ts'
import { Runtime } from './runtime.ts'

export interface RuntimeOptions extends CheckOptions {
  /** Path of the catalog file. */
  readonly catalog: string
  /** Applies changes of the catalog files, and of plugins given by path, as they are written. Default false. */
  readonly watch?: boolean
  readonly logger?: Logger
  /** A row that is not done activating by then is told in the log, in milliseconds. Default 5,000. */
  readonly slowRowMs?: number
  /** Told what is about to boot, once it is known to fit together. */
  readonly checked?: (composition: Composition) => void
  /** Ends a boot that is under way: what has been activated is closed again, and `openRuntime` rejects with RUNTIME_CLOSED. */
  readonly signal?: AbortSignal
}

/**
 * Checks a catalog file, activates its rows and waits for those that are required.
 * @throws CompositionError with every diagnostic, before anything ran; NotActiveError with the causes, after everything was closed again
 */
export async function openRuntime(options: RuntimeOptions): Promise<Runtime> {
  const { catalog, watch = false, logger, signal, edit = {}, slowRowMs, checked, ...checkOptions } = options
  const check = new CatalogCheck(checkOptions)
  const report = await untilAborted(check.run(catalog, edit), signal)
  if (!report.ok) throw new CompositionError(report.composition.file, report.diagnostics)
  for (const { message, file, line } of report.diagnostics) logger?.warn({ file, line }, message)
  const kernel = new Kernel(logger === undefined ? {} : { logger })
  const runtime = new Runtime({ kernel, check, report, edit, logger, slowRowMs })
  const interrupt = (): void => void runtime.close()
  signal?.addEventListener('abort', interrupt, { once: true })
  try {
    signal?.throwIfAborted()
    checked?.(report.composition)
    await boot(runtime, logger, slowRowMs)
    signal?.throwIfAborted()
    if (watch) runtime.follow(report)
    return runtime
  } catch (error) {
    await runtime.close()
    throw signal?.aborted === true ? closedEarly(error) : error
  } finally {
    signal?.removeEventListener('abort', interrupt)
  }
}

/** A check activates nothing, so it may be left alone; one can hang in code that is imported, or in a file that is a pipe. */
function untilAborted<T>(work: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (signal === undefined) return work
  return new Promise((resolve, reject) => {
    const abort = (): void => reject(closedEarly(signal.reason))
    if (signal.aborted) abort()
    signal.addEventListener('abort', abort, { once: true })
    void work.then(resolve, reject).finally(() => signal.removeEventListener('abort', abort))
  })
}

function closedEarly(cause: unknown): RuntimeError {
  return new RuntimeError('RUNTIME_CLOSED', 'the runtime was closed before it had booted', { cause })
}

async function boot({ kernel, composition }: Runtime, logger: Logger | undefined, slowRowMs: number | undefined): Promise<void> {
  const rows = activeRows(composition)
  // One after the other in one tick: the kernel takes them as one edit, and unlike in a transaction a failure leaves its traces to read.
  for (const { id, loaded, config, optional } of rows) kernel.load(loaded.plugin, config, { id, optional })
  await tellingSlowRows(kernel, logger, () => kernel.settled(), slowRowMs)
  warnOfUnoffered(kernel, logger)
  const inactive = rows.filter(({ id }) => kernel.row(id)?.phase !== 'active')
  const dead = inactive.filter(({ optional }) => !optional).map(({ id }) => kernel.explain(id))
  if (dead.length > 0) throw new NotActiveError(`${composition.file} does not boot`, dead, composition.rows)
  for (const { id } of inactive) logger?.warn({ row: id }, kernel.explain(id).message)
}
