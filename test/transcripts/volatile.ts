import { tmpdir } from 'node:os'

/** What is not the same in two runs. */
export interface Volatile {
  /** Where the session works. */
  readonly directory: string
  /** Bounds that somebody gave, in milliseconds: these are told exactly; other times were measured. */
  readonly bounds: ReadonlySet<number>
}

/** Puts names in the place of directories, files of the system, process ids and measured times. */
export function withoutVolatile(text: string, { directory, bounds }: Volatile): string {
  const time = (whole: string, before: string, ms: string, after: string): string => (bounds.has(Number(ms)) ? whole : `${before}<time>${after}`)
  return text
    .replaceAll(directory, '<cwd>')
    .replaceAll(systemFile, '<file>')
    .replaceAll(/\bpid \d+/g, 'pid <pid>')
    .replaceAll(/\((?:\d+h)?(?:\d+m)?\d+s\)(?= —)/g, '(<age>)')
    .replaceAll(/(\b(?:after|within|waited) )(\d+)(ms\b)/g, time)
    .replaceAll(/^(durationMs: )[\d.]+$/gm, '$1<time>')
    .replaceAll(/^(timeoutMs: )(\d+)($)/gm, time)
}

const systemFile = new RegExp(`${tmpdir().replace(/[\\^$.*+?()[\]{}|]/g, '\\$&')}/[^\\s\\],"]+`, 'g')
