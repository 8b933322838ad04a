import type { Logger } from '@tenon/kernel'

export interface LogLine {
  readonly level: 'debug' | 'info' | 'warn' | 'error'
  readonly message: string
  readonly fields: Readonly<Record<string, unknown>>
}

/** A logger that writes down what it is told, the fields of its parents included. */
export function recordedLog(): { readonly logger: Logger; readonly lines: LogLine[] } {
  const lines: LogLine[] = []
  const under = (bindings: Record<string, unknown>): Logger => {
    const at = (level: LogLine['level']) => (first: unknown, message?: string) => {
      const fields = typeof first === 'object' ? { ...bindings, ...first } : bindings
      lines.push({ level, message: message ?? String(first), fields })
    }
    const logger = {
      debug: at('debug'),
      info: at('info'),
      warn: at('warn'),
      error: at('error'),
      child: (more: object) => under({ ...bindings, ...more }),
    }
    return logger as unknown as Logger
  }
  return { logger: under({}), lines }
}
