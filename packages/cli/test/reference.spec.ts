import { firstParty } from '@tenon/catalog'
import { expect, it } from 'vitest'
import { optionsOf } from '../src/option-table.ts'
import { folder, tenon } from './harness.ts'

it('CP-13 `plugins` lists every first-party plugin with its options and their defaults', async () => {
  const { status, stdout, stderr } = await tenon(['plugins'], { cwd: await folder() })
  expect([status, stderr]).toEqual([0, ''])
  for (const { name } of firstParty) expect(stdout).toMatch(new RegExp(`^${name}$`, 'm'))
  expect(stdout).toMatch(/^local-bash\n {2}provides shell\n {2}injects {2}subprocess\n {2}options\n/m)
  expect(stdout).toMatch(/^ {4}timeoutMs {2,}integer 1\.\.2147483647 {2,}= 120000 {2}Deadline of commands/m)
})

it('CP-13 `plugins NAME --json` gives the schema, and an unknown name did-you-mean', async () => {
  const cwd = await folder()
  const { status, stdout } = await tenon(['plugins', 'tools', '--json'], { cwd })
  expect(status).toBe(0)
  expect(JSON.parse(stdout)).toMatchObject([
    { name: 'tools', package: '@tenon/plugin-tools', provides: ['tools'], injects: ['reconciling'], config: { type: 'object' } },
  ])
  expect(await tenon(['plugins', 'tool'], { cwd })).toMatchObject({ status: 2, stderr: expect.stringContaining('did you mean "tools"?') })
})

it('options are taken apart, with what a person needs to set them', () => {
  const schema = {
    type: 'object',
    required: ['mode', 'nested'],
    properties: {
      mode: { enum: ['fast', 'safe'], description: 'How.' },
      count: { type: 'integer', exclusiveMinimum: 0, maximum: 10, default: 3 },
      names: { type: 'array', items: { type: 'string' } },
      env: { type: 'object', additionalProperties: { type: 'string' } },
      either: { anyOf: [{ type: 'string' }, { const: false }] },
      nested: { type: 'object', required: ['a'], properties: { a: { type: 'boolean' } } },
    },
  }
  expect(optionsOf(schema)).toEqual([
    { path: 'mode', type: '"fast" | "safe"', required: true, description: 'How.' },
    { path: 'count', type: 'integer 1..10', required: false, default: '3' },
    { path: 'names', type: 'list of string', required: false },
    { path: 'env', type: 'map of string', required: false },
    { path: 'either', type: 'string | false', required: false },
    { path: 'nested.a', type: 'boolean', required: true },
  ])
})

it('CP-13 `schema` knows ids, plugins and their options', async () => {
  const { status, stdout } = await tenon(['schema'], { cwd: await folder() })
  expect(status).toBe(0)
  const schema = JSON.parse(stdout) as {
    properties: {
      plugins: { patternProperties: Record<string, { anyOf: [{ anyOf: [{ enum: string[] }] }, { properties: object; allOf: object[] }] }> }
    }
    $defs: object
  }
  const [name, row] = Object.values(schema.properties.plugins.patternProperties)[0]?.anyOf ?? []
  expect(name?.anyOf[0].enum).toEqual(firstParty.map((plugin) => plugin.name))
  expect(Object.keys(row?.properties ?? {}).toSorted()).toEqual(['$replace', '$unset', 'criticality', 'disabled', 'use', 'when', 'with'])
  expect(row?.allOf).toContainEqual({
    if: { properties: { use: { const: 'local-bash' } }, required: ['use'] },
    // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema.
    then: { properties: { with: { $ref: '#/$defs/local-bash' } } },
  })
  // An option may be a number, or an expression that becomes one.
  expect(schema.$defs).toMatchObject({
    'local-bash': { properties: { timeoutMs: { default: 120_000, anyOf: [{ type: 'integer' }, { type: 'string', pattern: expect.any(String) }] } } },
  })
})
