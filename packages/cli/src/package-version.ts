import { readFileSync } from 'node:fs'

/** Of this package, and so of all of Tenon's. */
export function packageVersion(): string {
  const manifest = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')) as { readonly version: string }
  return manifest.version
}
