import type { Logger } from '@tenon/kernel'

const nothing = (): void => undefined

/** Takes every message and writes none: what a harness is asked about, it answers with errors. */
export const silentLogger: Logger = {
  level: 'silent',
  child: () => silentLogger,
  ...{ fatal: nothing, error: nothing, warn: nothing, info: nothing, debug: nothing, trace: nothing, silent: nothing },
} as unknown as Logger
