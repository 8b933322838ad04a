import { expect, it } from 'vitest'
import { commandStatus } from '../src/command-status.ts'
import { parseLine, parseToolArguments } from '../src/console/console-line.ts'
import { CATALOG, folder, type Ran, TOOLS_PLUGIN, tenon } from './harness.ts'

const files = { 'tenon.yaml': CATALOG, 'tools.ts': TOOLS_PLUGIN }

async function script(lines: readonly string[], more: Readonly<Record<string, string>> = {}): Promise<Ran & { readonly cwd: string }> {
  const cwd = await folder({ ...files, ...more })
  return { cwd, ...(await tenon(['run'], { cwd, stdin: lines.join('\n') })) }
}

it.each([
  ['', { kind: 'nothing' }],
  ['   ', { kind: 'nothing' }],
  ['# a comment', { kind: 'nothing' }],
  ['! make -j2', { kind: 'shell', command: 'make -j2' }],
  ['!  echo "a  b" # c ', { kind: 'shell', command: 'echo "a  b" # c' }],
  ['rows', { kind: 'word', word: 'rows', rest: '' }],
  [' set shell.timeoutMs=5 ', { kind: 'word', word: 'set', rest: 'shell.timeoutMs=5' }],
  ['bash {"command": "a  b"}', { kind: 'word', word: 'bash', rest: '{"command": "a  b"}' }],
])('the line %j is taken apart', (line, parsed) => {
  expect(parseLine(line)).toEqual(parsed)
})

it('what is no JSON says how to write it', () => {
  expect(parseToolArguments('echo', '')).toEqual({})
  expect(() => parseToolArguments('echo', 'hello')).toThrow(/the arguments of echo are not JSON: .*\n {2}write echo \{"name": "value"\}/)
  expect(() => parseLine('!')).toThrow(/write a command behind the !/)
})

it.each([
  [{ kind: 'foreground', exitCode: 0, signal: null, timedOut: false }, 0],
  [{ kind: 'foreground', exitCode: 3, signal: null, timedOut: false }, 3],
  [{ kind: 'foreground', exitCode: null, signal: 'SIGKILL', timedOut: false }, 137],
  [{ kind: 'foreground', exitCode: null, signal: 'SIGTERM', timedOut: true }, 124],
  [{ kind: 'foreground', exitCode: 0, signal: null, timedOut: true }, 124],
  [{ kind: 'promoted', jobId: 'bash-1' }, 0],
  ['text', 0],
])('the status of a command is that of its facts: %j', (value, status) => {
  expect(commandStatus(value)).toBe(status)
})

it('CP-13 without a terminal there is no prompt: one command per line, and the status of the last', async () => {
  const { status, stdout, stderr } = await script(['echo {"text": "one"}', '', '# nothing', 'fail {"text": "x"}', 'echo {"text": "two"}', '# end'])
  expect([status, stdout, stderr]).toEqual([0, 'one\ntwo\n', 'Error: no luck\n'])
  expect((await script(['echo {"text": "one"}', 'fail {"text": "x"}'])).status).toBe(1)
  expect((await script(['fail {"text": "x"}', 'quit', 'echo {"text": "never"}'])).stdout).toBe('')
})

it('CP-13 the status of `! command` is that of the command', async () => {
  expect(await script(['! exit 0', '! exit 7'])).toMatchObject({ status: 7, stdout: 'exit 0 (exit 0)\nexit 7 (exit 7)\n' })
})

it('CP-13 a person may leave out the description: the first line of the command stands for it', async () => {
  const { stdout } = await script([
    'bash {"command": "\\n  echo a\\necho 0"}',
    'bash {"command": "echo 0", "description": "mine"}',
    'echo {"text": "no description here"}',
  ])
  expect(stdout).toBe('\n  echo a\necho 0 (echo a)\necho 0 (mine)\nno description here\n')
})

it('CP-13 a long command is described by its beginning, and a tool without a command by its name', async () => {
  const long = `echo ${'y'.repeat(10_000)} 0`
  const { stdout } = await script([`! ${long}`, 'bash {"command": "\\u0000 0"}', 'bash {"command": " 0", "description": "mine"}'])
  expect(stdout).toBe(`${long} (echo ${'y'.repeat(114)}…)\n 0 (0)\n 0 (mine)\n`)
  expect((await script(['bash'])).stdout).toBe('undefined (bash)\n')
})

it('CP-13 a tool with the name of a console command is told at the start', async () => {
  const cwd = await folder({ 'tenon.yaml': CATALOG, 'tools.ts': TOOLS_PLUGIN.replace("name: 'where'", "name: 'rows'") })
  const { status, stderr } = await tenon(['run'], { cwd, stdin: 'echo {"text":"x"}\n' })
  expect([status, stderr]).toEqual([0, 'the tool "rows" cannot be called here: the console has a command of that name\n'])
})

it('CP-13 each console is a session of its own, in the directory it was started in', async () => {
  const { stdout, cwd } = await script(['where'])
  expect(stdout).toBe(`console-7 ${cwd}\n`)
})

it('CP-13 what cannot be understood is said, with did-you-mean, and the next line runs', async () => {
  const { status, stdout, stderr } = await script([
    'ecko {"text": 1}',
    'row',
    'explain nobody',
    'explain',
    'reload nobody',
    'set tools=1',
    'set tools.abortGraceMs=-1',
    'echo nonsense',
    'echo {"text": "still here"}',
  ])
  expect([status, stdout]).toEqual([0, 'still here\n'])
  const said = [
    'there is no command and no tool "ecko"; did you mean "echo"?',
    'did you mean "rows"?',
    'there is no row "nobody"; rows: mine, tools',
    'write explain ROW',
    '[ROW_UNKNOWN]',
    'is not of the form row.path=value',
    'row "tools": abortGraceMs: expected a number of at least',
    'the arguments of echo are not JSON',
  ]
  for (const text of said) expect(stderr).toContain(text)
})

it('CP-13 a word of any length is told by its beginning', async () => {
  const { status, stderr } = await script(['a'.repeat(100_000)])
  expect([status, stderr]).toEqual([1, `error: there is no command and no tool "${'a'.repeat(59)}…"; \`help\` lists them\n`])
})

it('CP-13 `help`, `tools`, `rows` and `explain` show what there is', async () => {
  const { status, stdout } = await script(['help', 'tools', 'rows', 'explain mine'])
  expect(status).toBe(0)
  for (const word of ['TOOL {json}', '! COMMAND', 'reload ROW', 'set ROW.PATH=VALUE', 'quit']) expect(stdout).toContain(word)
  expect(stdout).toContain('bash {command, description}\n  Pretends to run.')
  expect(stdout).toContain('mine   ./tools.ts  active\ntools  tools       active  provides tools\n')
  expect(stdout).toMatch(/mine is active \(plugin test-tools, activation 1, \d+ ms\)\n {2}bound to: tools of tools\n/)
  expect(stdout).toMatch(/use = ".\/tools.ts" {2}\(.*tenon\.yaml:3:9\)/)
})

it('CP-13 rows are set, disabled, enabled and reloaded from the console', async () => {
  const { status, stdout } = await script([
    'set tools.abortGraceMs=500',
    'set tools.abortGraceMs=500',
    'disable mine',
    'tools',
    'enable mine',
    'reload mine',
    'echo {"text": "again"}',
  ])
  expect([status, stdout]).toEqual([
    0,
    [
      'reconfigured tools; 1 untouched',
      'nothing changed; 2 untouched',
      'removed mine; 1 untouched',
      'no tools',
      'added mine; 1 untouched',
      'replaced mine; 1 untouched',
      'again',
      '',
    ].join('\n'),
  ])
})

it('CP-13 an edit that is rolled back says so once, beside the log of the row, and fails', async () => {
  const picky = `import { definePlugin } from '@tenon/kernel'
import { z } from 'zod'
export default definePlugin({
  name: 'picky', config: z.strictObject({ n: z.number().default(0) }).prefault({}),
  activate(scope) { if (scope.config.n > 1) throw new Error('too much') },
})
`
  const { status, stderr } = await script(['set picky.n=5'], { 'tenon.yaml': `${CATALOG}  picky: ./picky.ts\n`, 'picky.ts': picky })
  expect(status).toBe(1)
  const told = stderr.split('\n').filter(Boolean)
  expect(told).toEqual([
    expect.stringMatching(/"level":50,.*"row":"picky".*too much/),
    expect.stringMatching(/^rolled back, because row "picky": activation failed: too much$/),
  ])
})

it('CP-13 an edit that cannot be taken back is not told as rolled back', async () => {
  const fragile = `import { capability, definePlugin } from '@tenon/kernel'
import { z } from 'zod'
const Fragile = capability<object>('fragile')
export default definePlugin({
  name: 'fragile', provides: [Fragile], config: z.strictObject({ offers: z.boolean().default(true) }).prefault({}),
  activate(scope) {
    if (scope.config.offers && globalThis.opened) throw new Error('in use')
    globalThis.opened = true
    if (scope.config.offers) scope.provide(Fragile, {})
  },
})
`
  const user = `import { capability, definePlugin } from '@tenon/kernel'
export default definePlugin({ name: 'user', inject: [capability<object>('fragile')], activate() {} })
`
  const files = { 'tenon.yaml': `${CATALOG}  fragile: ./fragile.ts\n  user: ./user.ts\n`, 'fragile.ts': fragile, 'user.ts': user }
  const { status, stderr } = await script(['set fragile.offers=false'], files)
  expect(status).toBe(1)
  expect(stderr).toMatch(/^failed, the edit left required rows inactive, and could not be taken back: rolled back, because row "fragile": .*in use/m)
})

it('CP-13 `run` of a composition that does not fit runs no line', async () => {
  const cwd = await folder({ 'tenon.yaml': 'plugins:\n  tools: toools\n' })
  expect(await tenon(['run'], { cwd, stdin: 'help\n' })).toMatchObject({ status: 3, stdout: '' })
})
