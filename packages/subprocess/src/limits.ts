/** Largest delay of a timer: above 2^31 - 1 ms Node fires at once. */
export const MAX_GRACE_MS = 2_147_483_647

/** A read must have room for any one character: UTF-8 needs up to four bytes (RFC 3629). */
export const MIN_READ_BYTES = 4

/** Bounds of `Collect.maxBytes`: the tail is held in memory. */
export const MIN_COLLECT_BYTES = MIN_READ_BYTES
export const MAX_COLLECT_BYTES = 268_435_456
