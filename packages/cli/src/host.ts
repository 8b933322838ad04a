import { closeOnSignals, openRuntime, type Runtime } from '@tenon/runtime'
import { editOf } from './composition-edit.ts'
import type { CommandContext, CompositionFlags } from './context.ts'
import { ExitCode } from './exit-codes.ts'
import { messageOf } from './failure.ts'
import { createLogger } from './logger.ts'

/** An open composition that ends in order, however the program ends. */
export interface Host extends AsyncDisposable {
  readonly runtime: Runtime
}

export interface HostOptions {
  readonly catalog: string
  readonly flags: CompositionFlags & { readonly watch?: boolean }
  /** Shows a line of the log. Default: on standard error. */
  readonly showLog?: (line: string) => void
}

/** @throws CompositionError, NotActiveError, SettingError */
export async function openHost(context: CommandContext, options: HostOptions): Promise<Host> {
  const { io, screen, flags } = context
  const { logger, flush } = createLogger(io, flags, options.showLog ?? ((line) => screen.complain(line)))
  const { catalog } = options
  const opening = openRuntime({ catalog, logger, edit: editOf(options.flags), watch: options.flags.watch === true, host: { env: io.env } })
  // A signal during boot closes what has been opened by then.
  const close = async (): Promise<void> => {
    await opening.then(
      (runtime) => runtime.close(),
      () => undefined,
    )
    await flush()
  }
  const signals = closeOnSignals({
    close,
    announce: (signal, forced) => {
      if (forced !== 'budget')
        screen.note(forced === undefined ? `${signal}: closing; a second signal ends at once` : `${signal} again: ending at once`)
      else screen.complain('closing took too long: ending now')
    },
  })
  const onFault = (error: unknown): void => {
    screen.complain(`error: ${messageOf(error)} (nobody caught it: closing)`)
    if (flags.debug === true && error instanceof Error) screen.complain(error.stack ?? '')
    const end = (): never => process.exit(ExitCode.internal)
    setTimeout(end, 20_000)
    void close().then(end, end)
  }
  process.once('uncaughtException', onFault)
  try {
    const runtime = await opening
    return {
      runtime,
      async [Symbol.asyncDispose]() {
        await close()
        signals.stop()
        process.off('uncaughtException', onFault)
      },
    }
  } catch (error) {
    await flush()
    signals.stop()
    process.off('uncaughtException', onFault)
    throw error
  }
}
