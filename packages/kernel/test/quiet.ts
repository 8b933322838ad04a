import type { KernelOptions } from '@tenon/kernel'
import pino from 'pino'

/** Options of a kernel that logs nowhere: most tests here provoke faults. */
export const quiet: KernelOptions = { logger: pino({ level: 'silent' }) }
