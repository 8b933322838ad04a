import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { defineTool } from '../src/definition.ts'
import { isPlain } from '../src/plain-schema.ts'

type Tree = { readonly name: string; readonly children: readonly Tree[] }
const tree: z.ZodType<Tree> = z.strictObject({
  name: z.string(),
  get children() {
    return z.array(tree)
  },
}) as never

describe('schemas of which nothing is the code of an author', () => {
  it.each<[string, z.ZodType]>([
    ['leaves', z.tuple([z.string(), z.number(), z.boolean(), z.null(), z.any(), z.unknown(), z.literal('a'), z.enum(['a', 'b'])])],
    ['objects of each kind', z.strictObject({ a: z.object({ b: z.looseObject({ c: z.int() }) }) })],
    ['wrappers', z.strictObject({ a: z.string().optional(), b: z.string().nullable(), c: z.string().default('x'), d: z.string().readonly() })],
    ['collections', z.array(z.record(z.string(), z.union([z.string(), z.number()])))],
    ['a discriminated union', z.discriminatedUnion('k', [z.strictObject({ k: z.literal(1) }), z.strictObject({ k: z.literal(2) })])],
    [
      "zod's own checks",
      z.strictObject({ a: z.string().min(1).max(3).regex(/a/), b: z.int().positive().multipleOf(2), c: z.array(z.null()).length(1), d: z.email() }),
    ],
    ['one that holds itself', tree],
  ])('TL-13 %s are parsed at once', (_, schema) => expect(isPlain(schema)).toBe(true))

  it.each<[string, z.ZodType]>([
    ['a refinement', z.string().refine(() => true)],
    ['a check of many issues', z.string().superRefine(() => undefined)],
    ['a transformation', z.string().transform((text) => text.length)],
    ['one before the parse', z.preprocess((value) => value, z.string())],
    ['a pipe', z.string().pipe(z.string())],
    ['a schema of an own class', z.custom<string>(() => true)],
    ['a lazy one', z.lazy(() => z.string())],
    ['a default from what fails', z.string().catch(() => 'x')],
    ['a promise', z.promise(z.string())],
    ['no schema', {} as never],
    ['nothing', undefined as never],
  ])('TL-13 %s may wait, wherever it stands', (_, schema) => {
    expect(isPlain(schema)).toBe(false)
    if (schema instanceof z.ZodType) {
      expect(isPlain(z.strictObject({ a: z.array(z.union([z.null(), schema])).optional() }))).toBe(false)
      expect(isPlain(z.object({}).catchall(schema))).toBe(false)
    }
  })
})

describe('what comes of a tool with each', () => {
  const toolOf = (value: z.ZodType) =>
    defineTool(
      {
        name: 'say',
        description: 'says',
        input: z.strictObject({ value }),
        output: z.strictObject({ value }),
        execute: (input: never) => input,
        render: () => [{ type: 'text', text: '' }],
      } as never,
      { input: new WeakMap(), output: new WeakMap() },
    )

  it('TL-13 TL-25 a plain one is read and checked without a wait', () => {
    const tool = toolOf(z.int())
    expect(tool.validate({ value: 1 })).toEqual({ ok: true, input: { value: 1 } })
    expect(tool.validate({ value: 'x' })).toMatchObject({ ok: false, problems: [{ path: ['value'] }] })
    expect(tool.check({ value: 2 })).toEqual({ value: 2 })
    expect(() => tool.check({ value: 0.5 })).toThrow(z.ZodError)
  })

  it('TL-13 TL-25 one with a refinement that waits is waited for', async () => {
    const tool = toolOf(z.int().refine(async (value) => value > 1, 'too small'))
    const [validating, checking] = [tool.validate({ value: 2 }), tool.check({ value: 2 })]
    expect([validating, checking]).toEqual([expect.any(Promise), expect.any(Promise)])
    expect([await validating, await checking]).toEqual([{ ok: true, input: { value: 2 } }, { value: 2 }])
    expect(await tool.validate({ value: 1 })).toMatchObject({ ok: false, problems: [{ path: ['value'] }] })
    await expect(tool.check({ value: 1 })).rejects.toThrow(z.ZodError)
  })
})
