import { CodedError } from '@tenon/kernel'
import { bytesOf, firstBytes } from './clip.ts'
import { text } from './text.ts'

/** What a host puts in front of the message of an error. */
const PREFIX_BYTES = 'Error: '.length

/** An error of the work is told within the limit of the job it is about: what is cut of its message is marked. */
export async function withinLimit<T>(limitBytes: number, work: () => T | Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (!(error instanceof Error) || bytesOf(error.message) + PREFIX_BYTES <= limitBytes) throw error
    const marker = `\n${text.truncated}`
    const message = `${firstBytes(error.message, limitBytes - PREFIX_BYTES - bytesOf(marker))}${marker}`
    const { code } = error as { code?: unknown }
    throw typeof code === 'string' ? new CodedError(code, message, { cause: error }) : new Error(message, { cause: error })
  }
}
