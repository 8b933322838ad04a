import { type Logger, pino } from 'pino'
import type { GeneralFlags, Io } from './io.ts'
import { plainText } from './terminal-text.ts'

/** Logs go to standard error: lines of JSON, or on a terminal lines for people; stack traces only with `debug`. `show` writes one line there. */
export function createLogger(io: Io, flags: GeneralFlags, show: (line: string) => void): { readonly logger: Logger; flush(): Promise<void> } {
  const level = flags.logLevel ?? (flags.quiet === true ? 'error' : 'warn')
  let written: Promise<void> = Promise.resolve()
  const forPeople = (line: string): void => {
    written = written.then(async () => {
      const { prettyFactory } = await import('pino-pretty')
      show(plainText(prettyFactory({ colorize: false, ignore: 'pid,hostname', translateTime: 'SYS:HH:MM:ss' })(line)).trimEnd())
    })
  }
  const write = io.stderr.isTTY === true ? forPeople : (line: string): void => show(line.trimEnd())
  return {
    logger: pino(
      {
        level,
        base: null,
        hooks: {
          logMethod(args, log) {
            if (!isRollback(args)) log.apply(this, args)
          },
        },
        ...(flags.debug === true ? {} : { serializers: { err: withoutStack } }),
      },
      { write },
    ),
    flush: () => written,
  }
}

/** The kernel's own line of a transaction that it took back: whoever wanted the edit tells of it, and why the row failed has been told. */
function isRollback([fields, message]: readonly unknown[]): boolean {
  const { err } = (typeof fields === 'object' && fields !== null ? fields : {}) as { readonly err?: Partial<Error> & { readonly code?: unknown } }
  return err?.code === 'ROLLED_BACK' && err.message === message
}

function withoutStack(error: unknown): unknown {
  if (!(error instanceof Error)) return error
  const { name: type, message } = error
  return { type, message, ...('code' in error && typeof error.code === 'string' ? { code: error.code } : {}) }
}
