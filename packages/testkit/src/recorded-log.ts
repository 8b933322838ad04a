import type { Logger } from '@tenon/kernel'

/** One message of a log. */
export interface LogLine {
  readonly level: 'trace' | 'debug' | 'info' | 'warn' | 'error' | 'fatal'
  readonly message: string
  /** What was logged beside the message, and what the loggers above it were bound to: `row`, `generation`. An error is under `err`. */
  readonly fields: Readonly<Record<string, unknown>>
}

/**
 * A logger that writes nothing and notes everything, in order, whatever its level: for tests of what a plugin says.
 *
 *     const { logger, lines } = recordedLog()
 *     await using app = await harness([myPlugin], { logger })
 *
 * `lines` grows as messages come; a test that is done with some may empty it. Messages are taken as they are: `%s` is not filled in.
 */
export function recordedLog(): { readonly logger: Logger; readonly lines: LogLine[] } {
  const lines: LogLine[] = []
  return { logger: recorder(lines, {}), lines }
}

function recorder(lines: LogLine[], bindings: Readonly<Record<string, unknown>>): Logger {
  const at = (level: LogLine['level']) => (first: unknown, message?: unknown) => {
    const isMessage = typeof first !== 'object' || first === null
    const fields = isMessage ? bindings : first instanceof Error ? { ...bindings, err: first } : { ...bindings, ...first }
    // As pino does: an error that is logged without a message speaks for itself.
    const said = isMessage ? first : (message ?? (first instanceof Error ? first.message : ''))
    lines.push({ level, message: String(said), fields })
  }
  const logger = {
    level: 'trace',
    trace: at('trace'),
    debug: at('debug'),
    info: at('info'),
    warn: at('warn'),
    error: at('error'),
    fatal: at('fatal'),
    silent: () => undefined,
    child: (more: object) => recorder(lines, { ...bindings, ...more }),
  }
  return logger as unknown as Logger
}
