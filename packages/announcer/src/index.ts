export { Announcer } from './announcer.ts'
export { settledInTime } from './settled-in-time.ts'
