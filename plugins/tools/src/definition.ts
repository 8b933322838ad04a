import type { Json, JsonObject } from '@tenon/kernel'
import { type Content, type RawTool, type Tool, type ToolAnnotations, type ToolCall, ToolError, type ToolView } from '@tenon/tools'
import type { z } from 'zod'
import { invalidArgument, type Problem, zodErrors, zodProblems } from './argument-problems.ts'
import { atOnce } from './at-once.ts'
import { describe } from './expectation.ts'
import { copyJson } from './json-copy.ts'
import { type ConvertedSchemas, convertSchema, copySchema, isObject } from './json-schema.ts'
import { isPlain } from './plain-schema.ts'
import { expected, schemaProblems } from './text.ts'
import { describeThrown } from './thrown.ts'
import { describeNoSchema, isStrictObject, isZodSchema } from './zod-schema.ts'

export type Validated = { readonly ok: true; readonly input: unknown } | { readonly ok: false; readonly problems: readonly Problem[] }

/** A registered tool, read and converted once; what a call pins. */
export interface Definition {
  readonly name: string
  readonly view: ToolView
  /** Throws, or rejects with, whatever a refinement, a refusal or a raw tool's validator throws. */
  validate(args: Json): Validated | Promise<Validated>
  execute(input: unknown, call: ToolCall): unknown
  /** The value as frozen JSON. Throws, or rejects with, whatever says why it does not fit. */
  check(value: unknown): Json | Promise<Json>
  /** Content is not checked here. */
  render(value: Json): unknown
}

const NAME = /^[A-Za-z][A-Za-z0-9_-]{0,63}$/

/** @throws ToolError TOOL_INVALID naming tool and field */
export function defineTool(tool: Tool | RawTool, converted: ConvertedSchemas): Definition {
  if (typeof tool !== 'object' || (tool as unknown) === null) throw new ToolError('TOOL_INVALID', schemaProblems.noTool(describe(tool)))
  const refuse = (field: string, problem: string, cause?: unknown): never => {
    const name = typeof tool.name === 'string' ? tool.name : String(describe(tool.name))
    throw new ToolError('TOOL_INVALID', `tool "${name}": ${field} ${problem}`, cause === undefined ? {} : { cause })
  }
  const attempt = <T>(field: string, make: () => T): T => {
    try {
      return make()
    } catch (error) {
      return refuse(field, `cannot be published as JSON Schema: ${describeThrown(error).message}`, error)
    }
  }
  const { name, description } = tool
  if (typeof name !== 'string' || !NAME.test(name)) refuse('name', `must match ${NAME.source}`)
  if (typeof description !== 'string' || description.trim() === '') refuse('description', 'must not be blank; the model reads it')
  if (typeof tool.execute !== 'function') refuse('execute', 'must be a function')
  const annotations = copyAnnotations(tool.annotations, refuse)
  if ('input' in tool) {
    if (!isStrictObject(tool.input)) refuse('input', schemaProblems.input(isZodSchema(tool.input) ? undefined : describeNoSchema(tool.input)))
    if (!isZodSchema(tool.output)) refuse('output', schemaProblems.output(describeNoSchema(tool.output)))
    if (typeof tool.render !== 'function') refuse('render', 'must be a function')
    checkRefusals(tool.refuses, refuse)
    const inputSchema = attempt('input', () => convertSchema(tool.input, 'input', converted))
    const outputSchema = attempt('output', () => convertSchema(tool.output, 'output', converted))
    return fromZod(tool, Object.freeze({ name, description, inputSchema, outputSchema, ...annotations }))
  }
  if (tool.inputSchema === undefined) refuse('input', schemaProblems.neither)
  for (const part of ['inputSchema', 'outputSchema'] as const) {
    if (isZodSchema(tool[part])) refuse(part, schemaProblems.raw)
  }
  for (const part of ['validate', 'render'] as const) {
    if (tool[part] !== undefined && typeof tool[part] !== 'function') refuse(part, 'must be a function')
  }
  const inputSchema = attempt('inputSchema', () => copySchema(tool.inputSchema))
  const outputSchema = tool.outputSchema === undefined ? {} : { outputSchema: attempt('outputSchema', () => copySchema(tool.outputSchema)) }
  return fromJsonSchema(tool, Object.freeze({ name, description, inputSchema, ...outputSchema, ...annotations }))
}

function fromZod(tool: Tool, view: ToolView): Definition {
  const refuses = Object.entries(tool.refuses ?? {})
  const [isInputPlain, isOutputPlain] = [isPlain(tool.input), isPlain(tool.output)]
  return {
    name: view.name,
    view,
    validate(sent) {
      if (!isObject(sent)) return notAnObject(sent)
      const { args, refused } = applyRefusals(refuses, sent)
      const read = (parsed: z.ZodSafeParseResult<unknown>): Validated => {
        if (parsed.success && refused.length === 0) return { ok: true, input: parsed.data }
        const problems = parsed.success ? [] : zodProblems(parsed.error.issues, args, view.inputSchema)
        return { ok: false, problems: [...refused, ...problems] }
      }
      if (isInputPlain) return read(tool.input.safeParse(args, { error: zodErrors }))
      return tool.input.safeParseAsync(args, { error: zodErrors }).then(read)
    },
    execute: (input, call) => tool.execute(input as never, call),
    check: (value) => (isOutputPlain ? jsonValue(tool.output.parse(value)) : tool.output.parseAsync(value).then(jsonValue)),
    render: (value) => tool.render(value),
  }
}

function fromJsonSchema(tool: RawTool, view: ToolView): Definition {
  return {
    name: view.name,
    view,
    validate(sent) {
      if (!isObject(sent)) return notAnObject(sent)
      const issues = atOnce(tool.validate?.(sent)) ?? []
      return issues.length === 0
        ? { ok: true, input: sent }
        : { ok: false, problems: issues.map(({ path, message }) => invalidArgument(path, message)) }
    },
    execute: (input, call) => tool.execute(input as JsonObject, call),
    check: jsonValue,
    render: (value) => tool.render?.(value) ?? ([{ type: 'text', text: JSON.stringify(value, null, 2) }] satisfies Content[]),
  }
}

function notAnObject(sent: Json): Validated {
  return { ok: false, problems: [invalidArgument([], expected.butGot(expected.anObject, describe(sent)))] }
}

/** Keys the definition does not take: their refusals, and the arguments without them. */
function applyRefusals(
  refuses: readonly (readonly [string, (value: Json) => string | undefined])[],
  sent: JsonObject,
): { readonly args: JsonObject; readonly refused: readonly Problem[] } {
  const present = refuses.filter(([key]) => Object.hasOwn(sent, key))
  if (present.length === 0) return { args: sent, refused: [] }
  const refused = present.flatMap(([key, refusal]): Problem[] => {
    const line = atOnce(refusal(sent[key] as Json))
    return line === undefined ? [] : [{ path: [key], message: line, line }]
  })
  return { args: Object.fromEntries(Object.entries(sent).filter(([key]) => !present.some(([gone]) => gone === key))), refused }
}

function jsonValue(value: unknown): Json {
  return copyJson(value, { maxBytes: Number.POSITIVE_INFINITY, maxDepth: 1_000, undefinedProperties: 'drop', root: 'the value' })
}

function checkRefusals(refuses: unknown, refuse: (field: string, problem: string) => never): void {
  if (refuses === undefined) return
  if (typeof refuses !== 'object' || refuses === null) refuse('refuses', 'must be an object')
  for (const [key, refusal] of Object.entries(refuses as object)) {
    if (typeof refusal !== 'function') refuse(`refuses.${key}`, 'must be a function')
  }
}

function copyAnnotations(given: ToolAnnotations | undefined, refuse: (field: string, problem: string) => never): { annotations?: ToolAnnotations } {
  if (given === undefined) return {}
  if (!isObject(given)) return refuse('annotations', 'must be an object')
  const { title, readOnly, destructive, idempotent } = given
  if (title !== undefined && typeof title !== 'string') refuse('annotations.title', 'must be a string')
  for (const [hint, value] of Object.entries({ readOnly, destructive, idempotent })) {
    if (value !== undefined && typeof value !== 'boolean') refuse(`annotations.${hint}`, 'must be a boolean')
  }
  const known = Object.entries({ title, readOnly, destructive, idempotent }).filter(([, value]) => value !== undefined)
  return { annotations: Object.freeze(Object.fromEntries(known)) }
}
