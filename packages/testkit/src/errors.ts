import { CodedError } from '@tenon/kernel'

export type HarnessErrorCode =
  /** A row is not active after everything has settled; the message holds the tree of causes of each. */
  | 'ROW_NOT_ACTIVE'
  /** The harness has no row of this id, or no row provides this capability. */
  | 'NOT_LOADED'
  /** After the close something was still there; `details` lists it. */
  | 'LEFT_BEHIND'

export class HarnessError extends CodedError<HarnessErrorCode> {}
