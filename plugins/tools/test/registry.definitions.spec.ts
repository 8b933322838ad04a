import type { RawTool, Tool } from '@tenon/tools'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { z } from 'zod'
import * as z3 from 'zod/v3'
import { drained, echo, type Opened, openTools, raw } from './opened.ts'

let app: Opened
beforeEach(async () => {
  app = await openTools()
})
afterEach(() => app.kernel.close())

const cyclic: Record<string, unknown> = {}
cyclic.self = cyclic

const SCHEMA = 'must be a schema of zod 4 for what execute returns'
const UNPUBLISHED = 'cannot be published as JSON Schema'
const WRITTEN = 'make it with z.strictObject, or z.string and the like'

/** As plain JavaScript may have it. */
const without = (field: 'input' | 'output'): Tool => {
  const { [field]: _left, ...tool } = echo()
  return tool as Tool
}

const taking = (shape: object): Tool => echo('echo', { input: z.strictObject(shape as never) })

describe('definitions', () => {
  it.each<[string, () => Tool | RawTool]>([
    ['tool "1st": name', () => echo('1st')],
    ['tool "": name', () => echo('')],
    ['tool "a b": name', () => echo('a b')],
    [`tool "${'x'.repeat(65)}": name`, () => echo('x'.repeat(65))],
    ['tool "__proto__": name', () => echo('__proto__')],
    ['tool "7": name', () => echo(7 as never)],
    ['tool "echo": description', () => echo('echo', { description: ' \n' })],
    ['tool "echo": input must be a strict object', () => echo('echo', { input: z.object({}) })],
    ['tool "echo": input must be a strict object', () => echo('echo', { input: z.looseObject({}) })],
    ['tool "echo": input must be a strict object', () => echo('echo', { input: z.string() as never })],
    ['tool "echo": input must be a strict object', () => echo('echo', { input: { type: 'object' } as never })],
    ['tool "echo": input cannot be published as JSON Schema', () => echo('echo', { input: z.strictObject({ at: z.date() }) })],
    ['tool "echo": output cannot be published as JSON Schema', () => echo('echo', { output: z.bigint() })],
    [`tool "echo": output ${SCHEMA}, got nothing; ${WRITTEN}`, () => echo('echo', { output: undefined as never })],
    [`tool "echo": output ${SCHEMA}, got nothing; ${WRITTEN}`, () => without('output')],
    [`tool "echo": output ${SCHEMA}, got null; ${WRITTEN}`, () => echo('echo', { output: null as never })],
    [`tool "echo": output ${SCHEMA}, got an object; ${WRITTEN}`, () => echo('echo', { output: { type: 'string' } as never })],
    [`tool "echo": output ${SCHEMA}, got "string"; ${WRITTEN}`, () => echo('echo', { output: 'string' as never })],
    [`tool "echo": output ${SCHEMA}, got a function; ${WRITTEN}`, () => echo('echo', { output: z.string as never })],
    [`tool "echo": output ${SCHEMA}, got a schema of zod 3; ${WRITTEN}`, () => echo('echo', { output: z3.object({}) as never })],
    ['tool "echo": input must be a strict object; make it with z.strictObject', () => echo('echo', { input: z.object({}) })],
    ['tool "echo": input must be a strict object of zod 4, got nothing; make it', () => echo('echo', { input: undefined as never })],
    ['tool "echo": input must be a strict object of zod 4, got null; make it', () => echo('echo', { input: null as never })],
    [
      'tool "echo": input must be a strict object of zod 4, got a schema of zod 3; make it',
      () => echo('echo', { input: z3.strictObject({}) as never }),
    ],
    [`tool "echo": input ${UNPUBLISHED}: input.a is no schema of zod 4 but null`, () => taking({ a: null })],
    [`tool "echo": input ${UNPUBLISHED}: input.a is no schema of zod 4 but nothing`, () => taking({ b: z.string(), a: undefined })],
    [`tool "echo": input ${UNPUBLISHED}: input.a is no schema of zod 4 but a schema of zod 3`, () => taking({ a: z3.string() })],
    [
      `tool "echo": input ${UNPUBLISHED}: input.a.b[1] is no schema`,
      () => taking({ a: z.object({ b: z.union([z.int(), {} as never]).optional() }) }),
    ],
    [`tool "echo": output ${UNPUBLISHED}: output is no schema of zod 4 but an object`, () => echo('echo', { output: z.array({} as never) })],
    ['tool "echo": input is missing; make it with z.strictObject, or give inputSchema', () => without('input')],
    ['tool "raw": inputSchema must be JSON Schema, got a schema of zod;', () => raw('raw', undefined, { inputSchema: z.strictObject({}) as never })],
    ['tool "raw": outputSchema must be JSON Schema, got a schema of zod;', () => raw('raw', undefined, { outputSchema: z.string() as never })],
    ['register(scope, tool): tool must be an object, got nothing', () => undefined as never],
    ['tool "a bigint": name', () => echo(7n as never)],
    ['tool "echo": render', () => echo('echo', { render: undefined as never })],
    ['tool "echo": execute', () => echo('echo', { execute: 'no' as never })],
    ['tool "echo": annotations must be an object', () => echo('echo', { annotations: 'safe' as never })],
    ['tool "echo": annotations.readOnly', () => echo('echo', { annotations: { readOnly: 'yes' as never } })],
    ['tool "raw": inputSchema cannot be published', () => raw('raw', undefined, { inputSchema: cyclic as never })],
    ['tool "raw": inputSchema cannot be published', () => raw('raw', undefined, { inputSchema: [] as never })],
    ['tool "raw": inputSchema cannot be published', () => raw('raw', undefined, { inputSchema: { default: 1n } as never })],
    ['tool "echo": refuses must be an object', () => echo('echo', { refuses: 'no' as never })],
    ['tool "echo": refuses.text must be a function', () => echo('echo', { refuses: { text: 'no' as never } })],
    ['tool "raw": validate must be a function', () => raw('raw', undefined, { validate: {} as never })],
    ['tool "raw": render must be a function', () => raw('raw', undefined, { render: 'no' as never })],
    ['tool "raw": outputSchema cannot be published', () => raw('raw', undefined, { outputSchema: { when: new Date(0) } as never })],
  ])('TL-02 refused without residue: %s', async (message, make) => {
    const scope = app.kernel.scope.child('plugin')
    expect(() => app.tools.register(scope, make() as Tool)).toThrow(
      expect.objectContaining({ code: 'TOOL_INVALID', message: expect.stringContaining(message) }),
    )
    await drained()
    expect(app.tools.view().tools).toEqual([])
    expect(app.changes).toEqual([])
  })

  it('TL-09 a strict object closes its schema, defaults are optional, descriptions are kept', () => {
    app.tools.register(app.kernel.scope, echo('echo', { annotations: { title: 'Echo', readOnly: true, destructive: false } }))
    expect(app.tools.get('echo')).toEqual({
      name: 'echo',
      description: 'Says what it was given.',
      annotations: { title: 'Echo', readOnly: true, destructive: false },
      inputSchema: {
        $schema: 'https://json-schema.org/draft/2020-12/schema',
        type: 'object',
        properties: { text: { type: 'string', description: 'What to say.', default: '' } },
        additionalProperties: false,
      },
      outputSchema: {
        $schema: 'https://json-schema.org/draft/2020-12/schema',
        type: 'object',
        properties: { text: { type: 'string' } },
        required: ['text'],
        additionalProperties: false,
      },
    })
  })

  it('TL-09 converted once per tool, however often it is registered, viewed and called', async () => {
    let conversions = 0
    const counted = z.string().default('')
    // zod asks a schema that has its own idea of its JSON Schema.
    counted._zod.toJSONSchema = () => {
      conversions++
      return { type: 'string' }
    }
    const tool = echo('echo', { input: z.strictObject({ text: counted }) })
    for (let n = 0; n < 5; n++) {
      const scope = app.kernel.scope.child('plugin')
      app.tools.register(scope, { ...tool })
      app.tools.view()
      expect(await app.call('echo', { text: 'x' })).toMatchObject({ isError: false })
      await scope.close()
    }
    expect(conversions).toBe(1)
  })

  it('TL-09 a raw schema is a detached equal copy', () => {
    const inputSchema = { type: 'object', properties: { a: { enum: [1, 'x', null] } } }
    const outputSchema = { type: 'array' }
    app.tools.register(app.kernel.scope, raw('raw', undefined, { inputSchema, outputSchema }))
    const view = app.tools.get('raw')
    expect(view).toEqual({ name: 'raw', description: 'Raw.', inputSchema, outputSchema })
    expect(view?.inputSchema).not.toBe(inputSchema)
    inputSchema.type = 'changed'
    expect(view?.inputSchema.type).toBe('object')
    expect(Object.isFrozen(inputSchema)).toBe(false)
  })
})
