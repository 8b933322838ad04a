// biome-ignore-all lint/suspicious/noTemplateCurlyInString: they are expressions of catalog files.
import { expect, it } from 'vitest'
import { type CheckReport, checkCatalog } from '../src/index.ts'
import { folder } from './folder.ts'
import { firstParty } from './plugins.ts'

const host = {
  platform: 'linux',
  env: { SECRET: 'hush', CI: 'true', EMPTY: '', N: '6', FLAG: 'true', WORD: 'x: y', NOTHING: 'null' },
  nodeVersion: '20.19.3',
}

async function check(text: string): Promise<CheckReport & { readonly folder: string }> {
  const dir = await folder({ 'car.yaml': text })
  return { ...(await checkCatalog(dir.file('car.yaml'), { firstParty: firstParty(), host })), folder: dir.path }
}

const configOf = ({ composition }: CheckReport, id: string): unknown => composition.rows.find((row) => row.id === id)?.config

it.each([
  ['{ platform: linux }', undefined],
  ['{ platform: [darwin, linux] }', undefined],
  ['{ platform: darwin }', 'platform is linux, not darwin'],
  ['{ platform: [win32, darwin] }', 'platform is linux, not win32 or darwin'],
  ['{ env: CI }', undefined],
  ['{ env: [CI, N] }', undefined],
  ['{ env: EMPTY }', 'EMPTY is not set'],
  ['{ env: [CI, MISSING] }', 'MISSING is not set'],
  ['{ env: constructor }', 'constructor is not set'],
  ['{ env: { N: "6", MISSING: false, CI: true } }', undefined],
  ['{ env: { N: "7" } }', 'N is not "7"'],
  ['{ env: { CI: false } }', 'CI is set'],
  ['{ node: ">=20.19" }', undefined],
  ['{ node: "20" }', undefined],
  ['{ node: ">=20.19 <21" }', undefined],
  ['{ node: ">20" }', 'Node is 20.19.3, not >20'],
  ['{ node: ">=20.19.4" }', 'Node is 20.19.3, not >=20.19.4'],
  ['{ node: "<=20.18" }', 'Node is 20.19.3, not <=20.18'],
  ['{ platform: linux, env: CI, node: ">=22" }', 'Node is 20.19.3, not >=22'],
  ['{}', undefined],
])('CP-05 when %s', async (when, why) => {
  const { composition, diagnostics } = await check(`plugins:\n  engine: { use: petrol-engine, when: ${when} }\n`)
  expect(diagnostics).toEqual([])
  expect(composition.rows[0]).toMatchObject(why === undefined ? { state: 'active' } : { state: 'skipped', why })
})

it.each([
  ['{ platform: linus }', 'when.platform: expected one of'],
  ['{ platfrom: linux }', 'when: unknown key "platfrom"'],
  ['{ node: latest }', 'when.node: "latest" cannot be read'],
  ['{ env: 5 }', 'when.env: expected a string or a list or a map, got 5'],
  ['linux', 'when: expected a map, got "linux"'],
])('CP-05 when %s is refused at its place', async (when, message) => {
  const { diagnostics } = await check(`plugins:\n  engine: { use: petrol-engine, when: ${when} }\n`)
  expect(diagnostics.map((diagnostic) => diagnostic.message)).toEqual([expect.stringContaining(message)])
  expect(diagnostics[0]?.line).toBe(2)
})

it('CP-05 nothing of a row that does not apply is looked at: no variable, no plugin', async () => {
  const { diagnostics, composition } = await check(`plugins:
  windows: { use: "@nobody/windows-only", when: { platform: win32 }, with: { home: "\${env:USERPROFILE}" } }
  later: { use: ./not-there.ts, disabled: true, with: { home: "\${env:LATER}" } }
  engine: petrol-engine
`)
  expect(diagnostics).toEqual([])
  expect(composition.rows.map(({ id, state, why }) => [id, state, why])).toEqual([
    ['engine', 'active', undefined],
    ['later', 'disabled', 'it is disabled'],
    ['windows', 'skipped', 'platform is linux, not win32'],
  ])
})

it('CP-05 an unquoted value that is one whole expression takes the type of what it becomes, anything else is text', async () => {
  const report = await check(`plugins:
  engine:
    use: petrol-engine
    disabled: \${env:FLAG}
  second:
    use: anything
    with:
      whole: \${env:N}
      quoted: "\${env:N}"
      inside: v\${env:N}
      fallback: \${env:T:-60000}
      fallbackText: \${env:T:-off}
      none: \${env:NOTHING}
      empty: \${env:EMPTY:-used}
      twice: \${env:N}\${env:N}
      colon: \${env:WORD}
      list: [ "\${env:N}" ]
      dir: \${catalog:dir}/src
`)
  expect(report.diagnostics).toEqual([])
  expect(configOf(report, 'second')).toEqual({
    whole: 6,
    quoted: '6',
    inside: 'v6',
    fallback: 60_000,
    fallbackText: 'off',
    none: null,
    empty: 'used',
    twice: '66',
    colon: 'x: y',
    list: ['6'],
    dir: `${report.folder}/src`,
  })
  expect(report.composition.rows.find(({ id }) => id === 'engine')?.state).toBe('disabled')
})

it('CP-05 a variable that is missing without a default is an error at its position, and the only one', async () => {
  const { diagnostics, ok } = await check(`plugins:
  engine:
    use: petrol-engine
    with:
      cylinders: \${env:CYLINDERS}
      fuel: very-\${env:FUEL}-good
`)
  expect(ok).toBe(false)
  expect(diagnostics.map(({ code, message, line, column, endColumn, hint }) => [code, message, line, column, endColumn, hint])).toEqual([
    ['ENV_MISSING', 'the environment variable CYLINDERS is not set', 5, 18, 34, 'set it, or give a default: ${env:CYLINDERS:-default}'],
    ['ENV_MISSING', 'the environment variable FUEL is not set', 6, 18, 29, 'set it, or give a default: ${env:FUEL:-default}'],
  ])
})

it('CP-05 no other expression is ever evaluated', async () => {
  const texts = ['${HOME}', '$(id)', '`id`', '${process.env.CI}', '${1+1}', '{{CI}}', '$CI', '%CI%', '${}', '$${env:CI}', '${env:N:-${env:CI}}']
  const report = await check(
    `plugins:\n  any:\n    use: anything\n    with:\n      list:\n${texts.map((text) => `        - ${JSON.stringify(text)}\n`).join('')}`,
  )
  expect(configOf(report, 'any')).toEqual({ list: [...texts.slice(0, 9), '${env:CI}', '6}'] })
})

it('CP-05 what came from the environment is shown as it is written, never as it is', async () => {
  const report = await check('plugins:\n  any: { use: anything, with: { port: "${env:SECRET}", also: "Bearer ${env:SECRET}" } }\n')
  expect(report.diagnostics.map(({ message }) => message)).toEqual(['row "any": port: expected a number, got the value of ${env:SECRET}'])
  expect(JSON.stringify(report.composition.rows.map(({ origins }) => origins))).toContain('Bearer ${env:SECRET}')
  expect(JSON.stringify([report.diagnostics, report.composition.rows.map(({ origins, why }) => [origins, why])])).not.toContain('hush')
})

it.each([
  ['${env:}', 'write ${env:NAME} or ${env:NAME:-default}'],
  ['${env:A-B}', 'write ${env:NAME} or ${env:NAME:-default}'],
  ['${catalog:file}', 'the only one of its kind is ${catalog:dir}'],
])('CP-05 %s is refused with the forms there are', async (expression, hint) => {
  const { diagnostics } = await check(`plugins:\n  engine: { use: petrol-engine, with: { fuel: "${expression}" } }\n`)
  expect(diagnostics).toMatchObject([{ code: 'EXPRESSION_INVALID', severity: 'error', column: 48, hint }])
})

it('CP-05 a misspelt expression stays text, with a warning', async () => {
  const { diagnostics } = await check('plugins:\n  engine: { use: petrol-engine, criticality: optional, with: { fuel: "${enf:FUEL}" } }\n')
  expect(diagnostics).toContainEqual(expect.objectContaining({ code: 'EXPRESSION_INVALID', severity: 'warning', hint: 'did you mean ${env:FUEL}?' }))
})

it('CP-05 in braces an unquoted expression gets a hint to quote it, and the lines below are no second fault', async () => {
  const { diagnostics } = await check('plugins:\n  engine: { use: petrol-engine, with: { fuel: ${env:FUEL} } }\n  box: gear-box\n')
  const message = 'inside { } and [ ] an expression needs quotes'
  expect(diagnostics).toMatchObject([{ code: 'CATALOG_SYNTAX', line: 2, message, hint: 'write "${env:FUEL}"' }])
})

it('CP-05 the fixed texts of numbers at the edge are refused with the name of the option', async () => {
  for (const value of ['.nan', '.inf', '-1', '1e309', '1.5', '"5s"', '0']) {
    const { diagnostics, ok } = await check(`plugins:\n  engine: { use: petrol-engine, with: { cylinders: ${value} } }\n`)
    expect(ok, value).toBe(false)
    expect(diagnostics[0]?.message, value).toMatch(/^row "engine": cylinders: /)
  }
})
