import { type Composition, closeOnSignals, openRuntime, type Runtime } from '@tenon/runtime'
import { editOf } from './composition-edit.ts'
import type { CommandContext, CompositionFlags } from './context.ts'
import { ExitCode } from './exit-codes.ts'
import { messageOf } from './failure.ts'
import { originOf } from './fault-origin.ts'
import { createLogger } from './logger.ts'
import { plainText } from './terminal-text.ts'

/** An open composition that ends in order, however the program ends. */
export interface Host extends AsyncDisposable {
  readonly runtime: Runtime
}

export interface HostOptions {
  readonly catalog: string
  readonly flags: CompositionFlags & { readonly watch?: boolean }
  /** Whether a standard output that nobody reads any more ends the program. Default true. */
  readonly endsWithOutput?: boolean
  /** Shows a line of the log. Default: on standard error. */
  readonly showLog?: (line: string) => void
  /** Told what is about to boot; what it throws ends that. */
  readonly checked?: (composition: Composition) => void
}

/** Errors that nobody caught, of one end. */
const TOLD_FAULTS = 5

/** @throws CompositionError, NotActiveError, SettingError */
export async function openHost(context: CommandContext, options: HostOptions): Promise<Host> {
  const { io, screen, flags } = context
  const { logger, flush } = createLogger(io, flags, options.showLog ?? ((line) => screen.complain(line)))
  const { catalog } = options
  const booting = new AbortController()
  const { signal } = booting
  let composition = (): Composition | undefined => undefined
  const opening = openRuntime({
    catalog,
    logger,
    signal,
    edit: editOf(options.flags),
    watch: options.flags.watch === true,
    host: { env: io.env },
    checked: (checked) => {
      composition = () => checked
      options.checked?.(checked)
    },
  })
  // A signal during boot closes what has been opened by then.
  const close = async (): Promise<void> => {
    booting.abort()
    await opening.then(
      (runtime) => runtime.close(),
      () => undefined,
    )
    await flush()
  }
  let ending = false
  /** Once a signal or a fault has come, it alone ends the process, with its exit code. */
  const yieldToSignal = (): Promise<void> => (ending ? new Promise(() => undefined) : Promise.resolve())
  const signals = closeOnSignals({
    close,
    exit: io.exit,
    announce: (signal, forced) => {
      ending = true
      if (forced !== 'budget')
        screen.note(forced === undefined ? `${signal}: closing; a second signal ends at once` : `${signal} again: ending at once`)
      else screen.complain('closing took too long: ending now')
    },
  })
  const closeAndExit = (code: number): void => {
    ending = true
    const end = (): void => io.exit(code)
    setTimeout(end, 20_000)
    void close().then(end, end)
  }
  let faults = 0
  const onFault = (error: unknown): void => {
    faults += 1
    // Whatever throws in an interval goes on doing so while others close.
    if (faults > TOLD_FAULTS) return
    const origin = originOf(error, composition())
    screen.complain(plainText(`error: ${messageOf(error)} (nobody caught it${origin === undefined ? '' : `, of ${origin}`}: closing)`))
    if (flags.debug === true && error instanceof Error) screen.complain(plainText(error.stack ?? ''))
    if (faults === 1) closeAndExit(ExitCode.internal)
  }
  // A reader that left is no fault, but what runs for it ends in order.
  const onOutputLost = (error: NodeJS.ErrnoException): void => {
    io.stdout.off('error', onOutputLost).on('error', () => undefined)
    screen.outputLost(error)
    closeAndExit(error.code === 'EPIPE' ? ExitCode.ok : ExitCode.failed)
  }
  process.on('uncaughtException', onFault)
  if (options.endsWithOutput !== false) io.stdout.on('error', onOutputLost)
  const release = (): void => {
    signals.stop()
    process.off('uncaughtException', onFault)
    io.stdout.off('error', onOutputLost)
  }
  try {
    const runtime = await opening
    composition = () => runtime.composition
    return {
      runtime,
      async [Symbol.asyncDispose]() {
        await close()
        await yieldToSignal()
        release()
      },
    }
  } catch (error) {
    await flush()
    await yieldToSignal()
    release()
    throw error
  }
}
