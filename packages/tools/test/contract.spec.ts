import type { Scope } from '@tenon/kernel'
import { Approval, type RawTool, ToolError, Tools } from '@tenon/tools'
import { describe, expect, expectTypeOf, it } from 'vitest'
import { z } from 'zod'

declare const scope: Scope
declare const tools: Tools

describe('the tools contract', () => {
  it('names its capabilities', () => {
    expect([Tools.key, Approval.key]).toEqual(['tools', 'approval'])
  })

  it('errors carry one of the codes and nothing else', () => {
    expect(new ToolError('TOOL_DENIED', 'denied: no')).toMatchObject({ name: 'ToolError', code: 'TOOL_DENIED' })
    // @ts-expect-error not a code of this contract
    expect(new ToolError('TOOL_ODD', '').code).toBe('TOOL_ODD')
  })

  it('input and output of a tool are typed by its schemas', () => {
    const compiles = () => {
      tools.register(scope, {
        name: 'add',
        description: 'Add.',
        input: z.strictObject({ a: z.number(), b: z.number().default(1) }),
        output: z.strictObject({ sum: z.number(), note: z.string().default('') }),
        execute: async (input, call) => {
          expectTypeOf(input).toEqualTypeOf<{ a: number; b: number }>()
          expectTypeOf(call.signal).toEqualTypeOf<AbortSignal>()
          return { sum: input.a + input.b }
        },
        render: (value) => {
          expectTypeOf(value).toEqualTypeOf<{ sum: number; note: string }>()
          return [{ type: 'text', text: value.note }]
        },
      })
      const wrong = { name: 'wrong', description: 'Wrong.', input: z.strictObject({}), output: z.strictObject({ sum: z.number() }) }
      // @ts-expect-error the value does not fit the output schema
      tools.register(scope, { ...wrong, execute: async () => ({ sum: 'three' }), render: () => [{ type: 'text', text: '' }] })
    }
    expect(compiles).toBeTypeOf('function')
  })

  it('a tool with JSON Schema needs neither validator nor renderer', () => {
    const raw: RawTool = { name: 'echo', description: 'Echo.', inputSchema: { type: 'object' }, execute: async (args) => args }
    const compiles = () => tools.register(scope, raw)
    expect(compiles).toBeTypeOf('function')
  })
})
