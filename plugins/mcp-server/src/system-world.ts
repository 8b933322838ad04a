import { randomBytes } from 'node:crypto'
import { readFileSync } from 'node:fs'
import type { World } from './world.ts'

/** This process. */
export const systemWorld: World = {
  pid: process.pid,
  version() {
    const manifest = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')) as { readonly version: string }
    return manifest.version
  },
  cwd: () => process.cwd(),
  now: () => performance.now(),
  randomId: () => randomBytes(24).toString('base64url'),
}
