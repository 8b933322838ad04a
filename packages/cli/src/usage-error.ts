import { CodedError } from '@tenon/kernel'

/** A wrong argument; the message says what was expected. */
export class UsageError extends CodedError<'USAGE'> {
  constructor(message: string) {
    super('USAGE', message)
  }
}
