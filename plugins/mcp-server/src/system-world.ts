import { randomBytes } from 'node:crypto'
import { readFileSync } from 'node:fs'
import type { World } from './world.ts'

/** This process. Getters, since reading `process.stdin` opens it. */
export const systemWorld: World = {
  get stdin() {
    return process.stdin
  },
  get stdout() {
    return process.stdout
  },
  get stderr() {
    return process.stderr
  },
  pid: process.pid,
  version() {
    const manifest = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')) as { readonly version: string }
    return manifest.version
  },
  cwd: () => process.cwd(),
  now: () => performance.now(),
  randomId: () => randomBytes(24).toString('base64url'),
}
