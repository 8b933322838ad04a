import { expect, it } from 'vitest'
import { type CheckReport, checkCatalog } from '../src/index.ts'
import { folder } from './folder.ts'
import { firstParty } from './plugins.ts'

async function check(text: string, files: Readonly<Record<string, string>> = {}, env: Readonly<Record<string, string>> = {}): Promise<CheckReport> {
  const dir = await folder({ 'car.yaml': text, ...files })
  return checkCatalog(dir.file('car.yaml'), { firstParty: firstParty(), host: { env, platform: 'linux' } })
}

const told = ({ diagnostics }: CheckReport): readonly string[] => diagnostics.map(({ line, column, message }) => `${line}:${column} ${message}`)

it.each([
  ['7', 'row "engine": expected a plugin or a map, got 7'],
  ['', 'row "engine": expected a plugin or a map, got null'],
  ['true', 'row "engine": expected a plugin or a map, got true'],
  ['[petrol-engine]', 'row "engine": expected a plugin or a map, got a list'],
])('CP-02 a bare value on top of a row is one fault, and the row below still provides what others need: `engine: %s`', async (value, message) => {
  const base = 'plugins:\n  engine: petrol-engine\n  box: { use: gear-box, with: { ratios: [1] } }\n'
  const report = await check(`extends: ./base.yaml\nplugins:\n  engine: ${value}\n`, { 'base.yaml': base })
  expect(told(report)).toEqual([expect.stringMatching(new RegExp(`^3:\\d+ ${message.replace(/[[\]]/g, '.')}$`))])
})

it('CP-02 a row of which nobody can tell the plugin is one fault, where it is named after what others need', async () => {
  const report = await check('plugins:\n  engine: 7\n  box: { use: gear-box, with: { ratios: [1] } }\n')
  expect(told(report)).toEqual(['2:11 row "engine": expected a plugin or a map, got 7'])
})

it('CP-02 a need that a nearer file has taken the provider of is told there', async () => {
  const base = 'plugins:\n  engine: petrol-engine\n  box: { use: gear-box, with: { ratios: [1] } }\n'
  const report = await check('extends: ./base.yaml\nplugins:\n  engine: { disabled: true }\n', { 'base.yaml': base })
  expect(told(report)).toEqual(['3:13 row "box" needs "engine", which no row provides'])
  expect(report.diagnostics[0]?.file).toMatch(/car\.yaml$/)
  expect(report.diagnostics[0]?.hint).toBe('row "engine" would provide it, but it is disabled: put it in, or take "box" out too')
})

const LIMITS = `import { definePlugin } from '@tenon/kernel'
import { z } from 'zod'
const config = z.strictObject({ timeoutMs: z.number().optional(), maxBytes: z.int().optional(), port: z.number().optional(), fast: z.boolean().optional() })
export default definePlugin({ name: 'limits', config, activate() {} })
`

it.each([
  ['timeoutMs: soon', 'write a number of milliseconds, such as 60000'],
  ['timeoutMs: "60000"', 'write it without quotes: 60000'],
  ['timeoutMs: 5s', 'it is a number of milliseconds: write 5000'],
  ['timeoutMs: 1.5 min', 'it is a number of milliseconds: write 90000'],
  ['timeoutMs: 3 apples', 'write a number of milliseconds, such as 60000'],
  ['maxBytes: 64k', 'it is a number of bytes: write 65536'],
  ['maxBytes: 10 MiB', 'it is a number of bytes: write 10485760'],
  ['maxBytes: toString', 'write a number of bytes, such as 65536'],
  ['port: "80"', 'write it without quotes: 80'],
  ['port: http', undefined],
  ['fast: "true"', 'write true'],
  ['fast: no', 'write false'],
  ['fast: very', 'write true or false'],
  // biome-ignore lint/suspicious/noTemplateCurlyInString: an expression of catalog files.
  ['timeoutMs: "${env:SECRET}"', 'write a number of milliseconds, such as 60000'],
])('CP-02 a wrong number says how to write it, and what came from the environment is not told: %s', async (setting, hint) => {
  const text = `plugins:\n  limits:\n    use: ./limits.ts\n    with:\n      ${setting}\n`
  const { diagnostics } = await check(text, { 'limits.ts': LIMITS }, { SECRET: '918273645s' })
  expect(diagnostics.map((diagnostic) => [diagnostic.code, diagnostic.hint])).toEqual([['CONFIG_INVALID', hint]])
  expect(JSON.stringify(diagnostics)).not.toContain('918273645')
})

it('CP-03 a row is never told that it may have meant what it provides itself', async () => {
  const odd = `import { capability, definePlugin } from '@tenon/kernel'
export default definePlugin({ name: 'odd', inject: [capability<object>('clok')], provides: [capability<object>('clock')], activate() {} })
`
  const { diagnostics } = await check('plugins:\n  odd: ./odd.ts\n', { 'odd.ts': odd })
  expect(diagnostics.map(({ hint }) => hint)).toEqual(['no known plugin provides it: add a row for one that does'])
})

it('CP-02 options that contradict each other are told at the one that is written, with the default of the other', async () => {
  const limits = `import { definePlugin } from '@tenon/kernel'
import { z } from 'zod'
const config = z
  .strictObject({ low: z.number().default(10), high: z.number().default(100) })
  .refine(({ low, high }) => low <= high, { path: ['low'], message: 'low must not be above high' })
export default definePlugin({ name: 'limits', config, activate() {} })
`
  const one = await check('plugins:\n  limits:\n    use: ./limits.ts\n    with:\n      high: 5\n', { 'limits.ts': limits })
  expect(told(one)).toEqual(['5:13 row "limits": low must not be above high'])
  expect(one.diagnostics[0]?.hint).toBe('low is not written; its default is 10')
  const both = await check('plugins:\n  limits: { use: ./limits.ts, with: { high: 5, low: 6 } }\n', { 'limits.ts': limits })
  expect(told(both)).toEqual(['2:53 row "limits": low must not be above high'])
  expect(both.diagnostics[0]?.hint).toBeUndefined()
})
