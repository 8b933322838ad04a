import { closeSync, readdirSync, readFileSync } from 'node:fs'

/** O_CLOEXEC as Linux shows it, on every architecture Node runs on. Node opens all its own with it. */
const CLOSED_BY_EXEC = 0o2000000

const STANDARD_STREAMS = 3

/**
 * Closes what this process was handed down beside its standard streams: it would hand it on to every command. To be called before anything
 * else opens a descriptor that is meant to be inherited. Does nothing where there is no /proc.
 */
export function closeInherited(): void {
  for (const descriptor of attempt(() => readdirSync('/proc/self/fdinfo'))?.map(Number) ?? []) {
    if (descriptor < STANDARD_STREAMS) continue
    // That of the listing itself is gone by now.
    const info = attempt(() => readFileSync(`/proc/self/fdinfo/${descriptor}`, 'latin1'))
    if (info !== undefined && isInherited(info)) attempt(() => closeSync(descriptor))
  }
}

/** Of a text as in `/proc/PID/fdinfo/N` (man 5 proc): its flags are octal. */
export function isInherited(info: string): boolean {
  const [, flags] = /^flags:\s*([0-7]+)$/m.exec(info) ?? []
  return flags !== undefined && (Number.parseInt(flags, 8) & CLOSED_BY_EXEC) === 0
}

function attempt<T>(step: () => T): T | undefined {
  try {
    return step()
  } catch {
    return undefined
  }
}
