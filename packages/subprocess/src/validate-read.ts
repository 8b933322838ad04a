import { SubprocessError } from './errors.ts'
import { MIN_READ_BYTES } from './limits.ts'

/** Checks the arguments of `OutputReader.readFrom`. @throws SubprocessError READ_INVALID */
export function validateRead(byteOffset: number, maxBytes: number | undefined): void {
  if (!Number.isSafeInteger(byteOffset) || byteOffset < 0) {
    throw new SubprocessError('READ_INVALID', `readFrom: byteOffset is ${String(byteOffset)}; it must be a safe integer ≥ 0 (bytes)`, {
      details: { field: 'byteOffset' },
    })
  }
  if (maxBytes !== undefined && !(Number.isInteger(maxBytes) && maxBytes >= MIN_READ_BYTES)) {
    throw new SubprocessError(
      'READ_INVALID',
      `readFrom: maxBytes is ${String(maxBytes)}; it must be an integer ≥ ${MIN_READ_BYTES} (bytes), so that any one character fits`,
      { details: { field: 'maxBytes' } },
    )
  }
}
