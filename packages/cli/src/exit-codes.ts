/** What the exit code says; beside these, 128 + n after signal n. */
export const ExitCode = {
  ok: 0,
  /** The tool's result is an error, a console command failed, or a check found a fault. */
  failed: 1,
  /** Unknown command, option or argument. */
  usage: 2,
  /** The composition does not fit together, or did not boot. */
  composition: 3,
  /** A fault of tenon or of a plugin that nobody answers for. */
  internal: 70,
} as const

export const EXIT_CODES_HELP = `Exit codes:
  0      success
  1      the tool's result is an error, the command failed, or the check found a fault
  2      unknown command, option or argument
  3      the composition does not fit together, or did not boot
  70     an internal fault
  128+n  ended by signal n`
