import { dirname } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, describe, expect, it } from 'vitest'
import { readTree } from './architecture/source-tree.ts'
import { ExamplePrograms, examplesIn } from './docs/examples.ts'
import { isDocument } from './docs/markdown.ts'

const root = dirname(dirname(fileURLToPath(import.meta.url)))
const documents = [...readTree(root)].filter(([path]) => isDocument(path))
const programs = new ExamplePrograms(documents.flatMap(([path, text]) => examplesIn(path, text)))
afterAll(() => programs[Symbol.dispose]())

const succeeds = { exitCode: 0, timedOut: false, output: expect.any(String) }

describe('the examples of the documents', () => {
  it('compile', async () => {
    expect(await programs.compile()).toBe('')
  })

  it.each(programs.examples)('$place runs', async (example) => {
    expect(await programs.run(example)).toEqual(succeeds)
  })
})

describe('an example', () => {
  it('that does not compile is reported by its place in the document', async () => {
    using wrong = new ExamplePrograms(examplesIn('docs/a.md', '# A\n\n```ts\nconst n: number = 1\nconst s: string = n\n```\n'))
    expect(await wrong.compile()).toMatch(/docs\/a\.md\(5,7\): error TS2322/)
  })

  it('that fails fails the test, with what it printed', async () => {
    const examples = examplesIn('docs/a.md', '```ts\nconsole.log("so far")\nthrow new Error("wrong")\n```\n')
    using wrong = new ExamplePrograms(examples)
    for (const example of examples) {
      expect(await wrong.run(example)).toEqual({ exitCode: 1, timedOut: false, output: expect.stringMatching(/so far[\s\S]*Error: wrong/) })
    }
    expect(examples).toHaveLength(1)
  })
})
