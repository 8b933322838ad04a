/** `undefined` is a tombstone: the inherited variable is removed. */
export type EnvEntries = Readonly<Record<string, string | undefined>>

/** Optional members mean "nothing added" when absent; they are never defaulted. Unknown members are SPEC_INVALID. */
export interface SpawnSpec {
  /** Program and arguments, never shell-parsed. argv[0] is a bare name (searched on the child's `PATH`) or an absolute path. */
  readonly argv: readonly [string, ...string[]]
  /** What the program sees as its own name. Callers that pass a resolved path set it to the name they resolved: multi-call programs need it. */
  readonly argv0?: string
  /** Absolute path. */
  readonly cwd: string
  /** Laid over the scrubbed environment of the host. A name never contains `=`; `TENON_PROCESS` is reserved. */
  readonly env?: EnvEntries
  /** `ignore`: the null device. `pipe`: `handle.stdin`. `data`: delivered, then end of file; the bytes are not changed until `done` settles. */
  readonly stdin: 'ignore' | 'pipe' | { readonly data: string | Uint8Array }
  readonly stdout: OutputMode
  readonly stderr: OutputMode
  /** Milliseconds between the polite and the forced signal; also bounds draining of collected pipes after the leader's exit. 1 … 2,147,483,647. */
  readonly graceMs: number
  /** Abort means `terminate()`. Aborted before the call: nothing is started. */
  readonly signal?: AbortSignal
}

/** `pipe`: raw stream on the handle. `inherit`: the host's descriptor. Otherwise collection. */
export type OutputMode = 'pipe' | 'inherit' | Collect

/** With `spill`: recoverable form, the complete stream goes to a file from the first overflow on. Without: diagnostic tail in memory. Both in bytes. */
export interface Collect {
  /** Bytes of tail served after loss, and the most one read returns. 4 … 268,435,456. */
  readonly maxBytes: number
  /** Largest size the file may keep. Not smaller than the tail. */
  readonly spill?: { readonly maxBytes: number }
}
