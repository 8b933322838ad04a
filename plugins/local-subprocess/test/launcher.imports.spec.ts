import { existsSync, readFileSync } from 'node:fs'
import { isBuiltin } from 'node:module'
import { dirname, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'

const MAIN = fileURLToPath(new URL('../dist/launcher/main.js', import.meta.url))

/** Everything a module asks for: `import x from`, `export x from`, `import 'x'`, `import('x')`, `require('x')`. */
function askedFor(text: string): string[] {
  const asked = /(?:\bfrom|\bimport|\bimport\s*\(|\brequire\s*\()\s*['"]([^'"]+)['"]/g
  return [...text.matchAll(asked)].map(([, name]) => name ?? '')
}

function graphOf(main: string): { files: Set<string>; others: Set<string> } {
  const files = new Set([main])
  const others = new Set<string>()
  for (const file of files) {
    for (const name of askedFor(readFileSync(file, 'utf8'))) {
      if (name.startsWith('.')) files.add(resolve(dirname(file), name))
      else others.add(name)
    }
  }
  return { files, others }
}

it('LN-02 the launcher is made of Node built-ins and files of its own package, so that no installation can keep it from starting', () => {
  const { files, others } = graphOf(MAIN)
  const folder = dirname(dirname(MAIN))
  expect(files.size).toBeGreaterThan(10)
  expect([...files].filter((file) => !existsSync(file) || !file.startsWith(folder))).toEqual([])
  expect(others.size).toBeGreaterThan(3)
  expect([...others].filter((name) => !name.startsWith('node:') || !isBuiltin(name))).toEqual([])
})

it('LN-02 every way of asking for a module is seen', () => {
  const text = `import a from 'a'\nexport { b } from "b"\nimport 'c'\nawait import('d')\nconst e = require('e')\nexport * from 'f'`
  expect(askedFor(text)).toEqual(['a', 'b', 'c', 'd', 'e', 'f'])
})
