export { INTERVAL_MS, LOOK_BACK_BYTES, NewestLine } from './newest-line.ts'
