/** Markers in the output of a job, each on a line of its own. */
export const jobMarkers = {
  skipped: (bytes: number): string => `[skipped ${bytes} bytes of unread output]`,
  channel: (name: string): string => `[${name}]`,
  unreadable: (message: string): string => `[output could not be read: ${message}]`,
  dropped: (paths: readonly string[]): string =>
    `[some output was dropped from memory; full output: ${paths.length > 0 ? paths.join(', ') : '(unavailable)'}]`,
  more: (bytes: number): string => `[more output: ${bytes} bytes unread]`,
}
