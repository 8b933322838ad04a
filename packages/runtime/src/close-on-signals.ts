import { constants } from 'node:os'

export type ClosingSignal = 'SIGINT' | 'SIGTERM' | 'SIGHUP'

export interface ClosingOptions {
  readonly close: () => Promise<void>
  /** For all of the closing, in milliseconds. Default 20,000: above the kernel's budget for one undo and an executor's grace. */
  readonly budgetMs?: number
  /** `forced`: by a second signal, or because the budget is used up. */
  /** Default: `process.exit`. */
  readonly exit?: (code: number) => void
  readonly announce?: (signal: ClosingSignal, forced: 'signal' | 'budget' | undefined) => void
}

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const

/**
 * Ends the process in order on SIGINT, SIGTERM or SIGHUP, with the exit code 128 + the signal's number; a second signal, or the end
 * of the budget, ends it at once. For the program that owns the process; `stop` gives the signals back.
 */
export function closeOnSignals(options: ClosingOptions): { stop(): void } {
  let first: ClosingSignal | undefined
  const end = options.exit ?? ((code: number): never => process.exit(code))
  const exit = (signal: ClosingSignal): void => end(128 + constants.signals[signal])
  const onSignal = (signal: ClosingSignal): void => {
    if (first !== undefined) {
      options.announce?.(signal, 'signal')
      exit(signal)
      return
    }
    first = signal
    options.announce?.(signal, undefined)
    const expire = (): void => {
      options.announce?.(signal, 'budget')
      exit(signal)
    }
    setTimeout(expire, options.budgetMs ?? 20_000)
    void options.close().then(
      () => exit(signal),
      () => exit(signal),
    )
  }
  for (const signal of SIGNALS) process.on(signal, onSignal)
  return {
    stop: () => {
      for (const signal of SIGNALS) process.off(signal, onSignal)
    },
  }
}
