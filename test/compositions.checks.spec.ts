import { mkdtemp, realpath, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { type CheckReport, checkCatalog, describePlugins, openRuntime } from '@tenon/runtime'
import { recordedLog } from '@tenon/testkit'
import { expect, it, onTestFinished } from 'vitest'

async function folder(files: Readonly<Record<string, string>>): Promise<string> {
  const made = await realpath(await mkdtemp(path.join(tmpdir(), 'tenon-checks-')))
  onTestFinished(() => rm(made, { recursive: true }))
  for (const [name, text] of Object.entries(files)) await writeFile(path.join(made, name), text)
  return made
}

async function check(files: Readonly<Record<string, string>>): Promise<CheckReport> {
  return checkCatalog(path.join(await folder(files), 'tenon.yaml'), { host: { platform: 'linux', env: {} } })
}

const codes = ({ diagnostics }: CheckReport): readonly string[] => diagnostics.map(({ code, row }) => `${row} ${code}`)

const needing = (name: string, needs: string, offers: string): string => `import { capability, definePlugin } from '@tenon/kernel'
export default definePlugin({ name: '${name}', inject: [capability<object>('${needs}')], provides: [capability<object>('${offers}')], activate() {} })
`

it('B160 two providers of one capability are refused, both named; one plugin twice is as well', async () => {
  const twice = await check({ 'tenon.yaml': 'plugins:\n  one: tools\n  two: tools\n' })
  expect(twice.diagnostics.map(({ message }) => message)).toEqual(['row "two": "tools" is provided by row "one" already'])
})

it('B166 a shell without processes is told what it lacks and who would bring it; plugins that need each other are told with the ring', async () => {
  const lacking = await check({ 'tenon.yaml': 'plugins:\n  shell: local-bash\n  shell-env: shell-env\n' })
  expect(lacking.diagnostics.map(({ message, hint }) => [message, hint])).toEqual([
    ['row "shell" needs "subprocess", which no row provides', expect.stringMatching(/^provided by local-subprocess: add a row/)],
  ])
  const ring = await check({ 'tenon.yaml': 'plugins:\n  a: ./a.ts\n  b: ./b.ts\n', 'a.ts': needing('a', 'y', 'x'), 'b.ts': needing('b', 'x', 'y') })
  expect(ring.diagnostics.map(({ message }) => message)).toEqual(['rows need each other in a ring: a needs "y" of b needs "x" of a'])
})

const good = `extends: default
plugins:
  shell: { with: { timeoutMs: 30000, maxTimeoutMs: 600000, graceMs: 2000, maxOutputBytes: 40000 } }
  tools: { with: {} }
`

it('B169 one bad value among good settings names its row and option; nothing else is said against, and as an optional row it costs only itself', async () => {
  const bad = `${good}  jobs: { with: { maxJobsPerOwner: many } }\n`
  const report = await check({ 'tenon.yaml': bad })
  expect(report.diagnostics.map(({ message }) => message)).toEqual(['row "jobs": maxJobsPerOwner: expected a number, got "many"'])
  expect(report.composition.rows.filter(({ state }) => state !== 'active').map(({ id }) => id)).toEqual(['jobs'])
  expect(report.composition.rows.find(({ id }) => id === 'shell')?.config).toMatchObject({ timeoutMs: 30_000, maxOutputBytes: 40_000 })

  const optional = 'extends: minimal\nplugins:\n  jobs: { use: jobs, criticality: optional, with: { maxJobsPerOwner: many } }\n'
  const { logger, lines } = recordedLog()
  await using runtime = await openRuntime({ catalog: path.join(await folder({ 'tenon.yaml': optional }), 'tenon.yaml'), logger })
  expect(runtime.kernel.inspect().rows.every(({ phase }) => phase === 'active')).toBe(true)
  expect(lines.filter(({ level }) => level === 'warn').map(({ message }) => message)).toEqual([
    'row "jobs": maxJobsPerOwner: expected a number, got "many"',
  ])
})

it('B170 an unknown key, a wrong type, a missing dependency and a warning are told in one run', async () => {
  const report = await check({
    'tenon.yaml': `plugins:
  tools: { use: tools, wiht: {} }
  subprocess: { use: local-subprocess, with: { minFreeBytes: lots } }
  tool-jobs: tool-jobs
  gone: { use: ./gone.ts, criticality: optional }
`,
  })
  expect(codes(report)).toEqual([
    'tools CATALOG_UNKNOWN_KEY',
    'subprocess CONFIG_INVALID',
    ...['jobs', 'system-prompt'].map(() => 'tool-jobs CAPABILITY_MISSING'),
    'gone PLUGIN_UNKNOWN',
  ])
  expect(report.diagnostics.map(({ severity }) => severity)).toEqual(['error', 'error', 'error', 'error', 'warning'])
})

interface NumericOption {
  readonly plugin: string
  readonly option: string
  readonly schema: Readonly<Record<string, unknown>>
}

/** Every option of a first-party plugin that is a number, at the top of its config. */
async function numericOptions(): Promise<readonly NumericOption[]> {
  const plugins = await describePlugins()
  return plugins.flatMap(({ name, config }) => {
    const properties = (config?.properties ?? {}) as Readonly<Record<string, Readonly<Record<string, unknown>>>>
    return Object.entries(properties).flatMap(([option, schema]) =>
      schema.type === 'integer' || schema.type === 'number' ? [{ plugin: name, option, schema }] : [],
    )
  })
}

it('B172 every numeric option of every first-party plugin refuses what is no number of its kind, by its name', async () => {
  const options = await numericOptions()
  expect(options.length).toBeGreaterThan(20)
  const values = ['.nan', '.inf', '-.inf', '-1', '1e309', '5s', '"5"', '1.5', 'null', '[]', 'true']
  const accepted: string[] = []
  for (const value of values) {
    const rows = options.map(({ plugin, option }, at) => `  r${at}: { use: ${plugin}, with: { ${option}: ${value} } }\n`)
    const { diagnostics } = await check({ 'tenon.yaml': `plugins:\n${rows.join('')}` })
    for (const [at, { plugin, option }] of options.entries()) {
      const faults = diagnostics.filter(({ row, code }) => row === `r${at}` && code === 'CONFIG_INVALID')
      if (!faults.some(({ message }) => message.includes(option))) accepted.push(`${plugin}.${option}: ${value}`)
    }
  }
  expect(accepted).toEqual([])
})

it.each([
  ['shell: { use: local-bash, with: { timeoutMs: 700000, maxTimeoutMs: 600000 } }', 'timeoutMs'],
  ['jobs: { use: jobs, with: { maxJobsPerOwner: 2, maxDetachedPerOwner: 3 } }', 'maxDetachedPerOwner'],
])('B172 a default above its cap is refused, with the name of the option: %s', async (row, option) => {
  const { diagnostics } = await check({ 'tenon.yaml': `plugins:\n  ${row}\n` })
  const told = diagnostics.filter(({ code }) => code === 'CONFIG_INVALID').map(({ message }) => message)
  expect(told).toEqual([expect.stringContaining(option)])
})
