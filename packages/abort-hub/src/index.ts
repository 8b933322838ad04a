export { AbortHub } from './abort-hub.ts'
