import { lstatSync } from 'node:fs'
import path from 'node:path'
import { compositions } from '@tenon/catalog'

/** A first argument that ends in `.yaml`, `.yml` or `.json` is the catalog; without one it is `tenon.yaml` here, else the built-in default. */
export function takeCatalog(args: readonly string[], cwd: string): { readonly catalog: string; readonly rest: readonly string[] } {
  const [first] = args
  if (first !== undefined && /\.(ya?ml|json)$/i.test(first)) return { catalog: path.resolve(cwd, first), rest: args.slice(1) }
  const own = path.join(cwd, 'tenon.yaml')
  return { catalog: isThere(own) ? own : compositions.default, rest: args }
}

/** Also as a link to nowhere, or where nobody may look: whoever put it there is to be told, and not given something else. */
function isThere(file: string): boolean {
  try {
    return lstatSync(file, { throwIfNoEntry: false }) !== undefined
  } catch {
    return true
  }
}
