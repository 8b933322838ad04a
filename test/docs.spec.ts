import { dirname } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { readTree } from './architecture/source-tree.ts'
import { fencesIn, fileLinksIn, isDocument } from './docs/markdown.ts'

const root = dirname(dirname(fileURLToPath(import.meta.url)))
const tree = readTree(root)
const documents = [...tree].filter(([path]) => isDocument(path))

/** Links of `text`, a document at `path`, that lead to no file and no folder of the tree. */
function deadLinks(path: string, text: string): readonly string[] {
  const exists = (target: string): boolean => tree.has(target) || [...tree.keys()].some((file) => file.startsWith(`${target.replace(/\/$/, '')}/`))
  return fileLinksIn(text).filter((link) => !exists(decodeURIComponent(new URL(link, `file:///${path}`).pathname.slice(1))))
}

/** Fences with TypeScript inside that the test of the examples would not find. */
function hiddenExamples(text: string): readonly string[] {
  return fencesIn(text)
    .filter(({ info }) => /^(ts|tsx|mts|typescript)\b/i.test(info) && info !== 'ts')
    .map(({ info, line }) => `line ${line}: \`${info}\``)
}

describe('documents', () => {
  it.each(documents)('%s: every link leads to a file', (path, text) => {
    expect(deadLinks(path, text)).toEqual([])
  })

  it.each(documents)('%s: every example in TypeScript is fenced as `ts`, which is compiled and run', (_, text) => {
    expect(hiddenExamples(text)).toEqual([])
  })

  it('are held by both rules', () => {
    expect(deadLinks('docs/a.md', '[a](../README.md) [b](adr/) [c](#part) [d](https://tenon.test) [e](none.md#x) `[f](code)`')).toEqual(['none.md'])
    expect(hiddenExamples('```ts no-run\n```\n```ts\n```\n```typescript\n```\n```sh\n```')).toEqual(['line 2: `ts no-run`', 'line 6: `typescript`'])
  })

  it('the README names the test command that a build runs', () => {
    expect(tree.get('README.md')).toMatch(/^npm test\b/m)
  })
})

describe('fences', () => {
  it('are found with their line, in lists and around other fences', () => {
    const markdown = 'text\n```ts\na\n  b\n```\n- item\n\n  ```sh\n  c\n\n    d\n  ```\n\n````md\n```ts\nno\n```\n````\n'
    expect(fencesIn(markdown)).toEqual([
      { info: 'ts', line: 3, text: 'a\n  b' },
      { info: 'sh', line: 9, text: 'c\n\n  d' },
      { info: 'md', line: 15, text: '```ts\nno\n```' },
    ])
  })

  it('that are never closed are an error', () => {
    expect(() => fencesIn('```ts\na')).toThrow('the fence before line 2 is never closed')
  })
})
