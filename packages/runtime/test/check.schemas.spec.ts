import { expect, it } from 'vitest'
import { checkCatalog } from '../src/index.ts'
import { folder } from './folder.ts'

/** What a check tells of `with`, for a plugin with this schema: message and hint. */
async function told(schema: string, config: string): Promise<readonly (readonly [message: string, hint: string | undefined])[]> {
  const dir = await folder({
    'top.yaml': `plugins:\n  it:\n    use: ./it.ts\n    with: ${config}\n`,
    'it.ts': `import { definePlugin } from '@tenon/kernel'
import { z } from 'zod'
export default definePlugin({ name: 'it', config: ${schema}, activate() {} })
`,
  })
  const { diagnostics } = await checkCatalog(dir.file('top.yaml'), { firstParty: [] })
  return diagnostics.map(({ message, hint }) => [message.replace('row "it": ', ''), hint] as const)
}

const SWITCHED = `z.strictObject({ u: z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('pipe'), path: z.string() }),
  z.strictObject({ kind: z.literal(['tcp', 'tls']), port: z.int(), quiet: z.boolean().optional(), queue: z.int().optional() }),
]) })`

it.each([
  ['a key of another branch', '{ u: { kind: pipe, path: x, port: 1 } }', 'u: unknown key "port"', 'known keys: kind, path'],
  [
    'more keys of another branch',
    '{ u: { kind: pipe, path: x, port: 1, quiet: true, queue: 1 } }',
    'u: unknown key "port"',
    'known keys: kind, path',
  ],
  ['a misspelt key', '{ u: { kind: tls, port: 1, quit: true } }', 'u: unknown key "quit"', 'did you mean "quiet"?'],
  ['a misspelt kind', '{ u: { kind: tpc, port: 1 } }', 'u.kind: expected one of "pipe", "tcp", "tls", got "tpc"', 'did you mean "tcp"?'],
  ['another kind', '{ u: { kind: 5, port: 1 } }', 'u.kind: expected one of "pipe", "tcp", "tls", got 5', undefined],
  ['no kind', '{ u: { port: 1 } }', 'u.kind: missing: expected one of "pipe", "tcp", "tls"', undefined],
])('CP-03 in one of several forms that a value tells apart, %s is told within the form that is meant', async (_, config, message, hint) => {
  expect((await told(SWITCHED, config))[0]).toEqual([message, hint])
})

it.each([
  [
    'the form with most of the keys',
    '{ u: { host: h, prot: 80 } }',
    [
      ['u.port: missing: expected a number', undefined],
      ['u: unknown key "prot"', 'did you mean "port"?'],
    ],
  ],
  ['no form that has the key', '{ u: { host: h, port: 80, socket: s } }', [['u: unknown key "socket"', 'known keys: host, port']]],
  ['the form inside a list', '{ u: { list: [{ frist: 1 }] } }', [['u.list.0: unknown key "frist"', 'did you mean "first"?']]],
])('CP-03 a misspelt key in one of several forms is looked for in %s', async (_, config, expected) => {
  const schema = `z.strictObject({ u: z.union([
    z.strictObject({ socket: z.string(), prt: z.number() }),
    z.strictObject({ host: z.string(), port: z.number() }),
    z.strictObject({ list: z.tuple([z.strictObject({ first: z.int().optional() })]) }),
  ]) })`
  expect((await told(schema, config)).toSorted()).toEqual(expected)
})

it('CP-03 a misspelt key is looked for where a schema contains itself, and among the names of a record', async () => {
  const tree = 'z.strictObject({ name: z.string().optional(), get kids() { return z.array(z.lazy(() => Tree)).optional() } })'
  const recursive = `(() => { const Tree: z.ZodType = ${tree}; return Tree })()`
  expect(await told(recursive, '{ kids: [{ kids: [{ nmae: x }] }] }')).toEqual([['kids.0.kids.0: unknown key "nmae"', 'did you mean "name"?']])
  const record = "z.strictObject({ sizes: z.partialRecord(z.enum(['small', 'large']), z.int()) })"
  expect(await told(record, '{ sizes: { smal: 1 } }')).toEqual([['sizes: unknown key "smal"', 'did you mean "small"?']])
})

it.each([
  ['z.strictObject({ a: z.any() })', '{}', 'a: missing: expected a value'],
  ['z.strictObject({ a: z.unknown() })', '{}', 'a: missing: expected a value'],
  ['z.strictObject({ a: z.null() })', '{ a: 1 }', 'a: expected null, got 1'],
  ['z.strictObject({ a: z.never() })', '{ a: 1 }', 'a: expected nothing, got 1'],
  ['z.strictObject({ a: z.tuple([z.int()]) })', '{ a: 1 }', 'a: expected a list, got 1'],
  ['z.strictObject({ a: z.int() })', '{ a: 1.5 }', 'a: expected an integer, got 1.5'],
  ['z.strictObject({ a: z.string().length(3) })', '{ a: b }', 'a: expected a text of exactly 3 characters, got "b"'],
  ['z.strictObject({ a: z.xor([z.string(), z.any()]) })', '{ a: b }', 'a: more than one option matched'],
])('CP-02 what a schema expects is told in words of the file: %s', async (schema, config, message) => {
  expect((await told(schema, config)).map(([text]) => text)).toEqual([message])
})
