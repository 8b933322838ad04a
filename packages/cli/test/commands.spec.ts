// biome-ignore-all lint/suspicious/noControlCharactersInRegex: control characters are what one test is about.
import { symlink } from 'node:fs/promises'
import path from 'node:path'
import { expect, it } from 'vitest'
import { CATALOG, folder, TOOLS_PLUGIN, tenon } from './harness.ts'

const files = { 'tenon.yaml': CATALOG, 'tools.ts': TOOLS_PLUGIN }

it.each([
  ['run', /\[catalog\]/, /--watch/],
  ['call', /\[catalog\] TOOL \[JSON\]/, /--json/],
  ['mcp', /\[catalog\]/, /mcpServers/],
  ['check', /\[catalogs\.\.\.\]/, /--json/],
  ['graph', /\[catalog\]/, /--format/],
  ['plugins', /\[names\.\.\.\]/, /--json/],
  ['schema', /yaml-language-server/, /--help/],
  ['new plugin', /<name>/, /@acme\/weather/],
  ['completion', /<shell>/, /"bash", "zsh", "fish"/],
  ['run', /--set <row\.path=value>/, /--enable <row>/],
])('CP-13 `tenon %s --help` says what it takes, and so does `tenon help`', async (command, usage, option) => {
  const cwd = await folder()
  const { status, stdout, stderr } = await tenon([...command.split(' '), '--help'], { cwd })
  expect([status, stderr]).toEqual([0, ''])
  expect(stdout).toMatch(new RegExp(`^Usage: tenon ${command} `))
  for (const expected of [usage, option, /--no-color/, /--debug/]) expect(stdout).toMatch(expected)
  const [first = '', ...rest] = command.split(' ')
  expect((await tenon(['help', first, ...rest], { cwd })).stdout).toBe(stdout)
})

it('CP-13 the program names its commands and exit codes', async () => {
  const { status, stdout } = await tenon(['--help'], { cwd: await folder() })
  expect(status).toBe(0)
  for (const word of ['run', 'call', 'check', 'graph', 'new', '128+n']) expect(stdout).toContain(word)
})

it.each([
  [['chek'], /unknown command 'chek'\n\(Did you mean check\?\)/],
  [['help', 'chek'], /unknown command 'chek'\n\(Did you mean check\?\)/],
  [['help', 'zzz'], /^error: unknown command 'zzz'\n\(--help lists what there is\)\n$/],
  [['help', 'new', 'plugn'], /unknown command 'plugn'\n\(Did you mean plugin\?\)/],
  [['new', 'help', 'plugn'], /unknown command 'plugn'\n\(Did you mean plugin\?\)/],
  [['check', '--jsno'], /unknown option '--jsno'\n\(Did you mean --json\?\)/],
  [['graph', '--format', 'dot'], /Allowed choices are tree, mermaid, json/],
  [['call'], /^error: name the tool to call: tenon call \[catalog\] TOOL \[JSON\]\n$/],
  [['call', 'tenon.yaml'], /name the tool to call/],
  [['call', 'echo', '{text:1}'], /the arguments of the tool are not JSON/],
  [['call', 'echo', '{}', 'more'], /too many arguments/],
  [['run', 'nonsense'], /"nonsense" is not a catalog file/],
  [['mcp', 'nonsense'], /"nonsense" is not a catalog file/],
  [['call', '--set', 'tools', 'echo'], /Write it like shell\.timeoutMs=60000/],
  [['--log-level', 'loud', 'schema'], /unknown log level "loud"; levels: trace, debug/],
  [['--log-level', 'loud', 'call', 'echo'], /unknown log level "loud"; levels: trace, debug/],
])('CP-13 a wrong command line ends with 2 and a message: %j', async (args, message) => {
  const { status, stdout, stderr } = await tenon(args, { cwd: await folder(files) })
  expect([status, stdout]).toEqual([2, ''])
  expect(stderr).toMatch(message)
  expect(stderr).not.toMatch(/^ +at /m)
})

it('CP-13 `call` prints the result of one tool and ends with 0, or 1 on an error result', async () => {
  const cwd = await folder(files)
  expect(await tenon(['call', 'echo', '{"text":"hi"}'], { cwd })).toEqual({ status: 0, stdout: 'hi\n', stderr: '' })
  expect(await tenon(['call', './tenon.yaml', 'echo', '-'], { cwd, stdin: '{"text":"from stdin"}' })).toMatchObject({
    status: 0,
    stdout: 'from stdin\n',
  })
  expect(await tenon(['call', 'fail', '{"text":"x"}'], { cwd })).toEqual({ status: 1, stdout: '', stderr: 'Error: no luck\n' })
  expect(await tenon(['call', 'ecko'], { cwd })).toMatchObject({ status: 1, stderr: 'Error: unknown tool "ecko"; did you mean "echo"?\n' })
  expect((await tenon(['call', 'where'], { cwd })).stdout).toBe(`call-7 ${cwd}\n`)
})

it('CP-13 `call` ends with 1 when a command failed, though the result is no error', async () => {
  const cwd = await folder({ 'tenon.yaml': CATALOG, 'tools.ts': TOOLS_PLUGIN })
  const status = async (command: string) => (await tenon(['call', 'bash', JSON.stringify({ command, description: 'x' })], { cwd })).status
  expect([await status('exit 0'), await status('exit 3')]).toEqual([0, 1])
})

it('CP-13 `call --json` prints the structured value, and an error as an object', async () => {
  const cwd = await folder(files)
  const value = await tenon(['call', '--json', 'echo', '{"text":"hi"}'], { cwd })
  expect([value.status, JSON.parse(value.stdout)]).toEqual([0, { text: 'hi' }])
  const error = await tenon(['call', 'fail', '{"text":"hi"}', '--json'], { cwd })
  expect([error.status, error.stderr, JSON.parse(error.stdout)]).toEqual([1, '', { error: { code: 'LUCK_NONE', message: 'no luck' } }])
  const broken = await tenon(['call', '--json', '--set', 'tools.abortGraceMs=soon', 'echo'], { cwd })
  expect([broken.status, JSON.parse(broken.stdout)]).toMatchObject([
    3,
    { error: { code: 'COMPOSITION_INVALID', diagnostics: [{ code: 'CONFIG_INVALID', row: 'tools' }] } },
  ])
})

it('CP-13 no control sequence of a tool reaches the terminal', async () => {
  const cwd = await folder(files)
  const text = JSON.stringify({ text: '\u001b[2J\u001b]0;pwn\u0007\u001b]52;c;aGk=\u0007\u009b31mX\r\n' })
  expect((await tenon(['call', 'echo', text], { cwd, terminal: true })).stdout).toBe('X\n')
  expect((await tenon(['call', '--json', 'echo', text], { cwd })).stdout).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f]/)
})

it('CP-13 a composition that does not fit, or does not boot, ends with 3: diagnostics, and a stack only with --debug', async () => {
  const cwd = await folder({ ...files, 'bad.yaml': 'plugins:\n  tools: toools\n', 'dead.yaml': 'plugins:\n  dead: ./dead.ts\n', 'dead.ts': dead })
  const invalid = await tenon(['call', 'bad.yaml', 'echo'], { cwd })
  expect([invalid.status, invalid.stdout]).toEqual([3, ''])
  expect(invalid.stderr).toMatch(/^error: row "tools": there is no plugin "toools" \[PLUGIN_UNKNOWN\]\n {2}--> bad\.yaml:2:10\n/)
  expect(invalid.stderr).not.toMatch(/^ +at /m)
  const failed = await tenon(['--log-level', 'silent', 'call', 'dead.yaml', 'echo'], { cwd })
  expect(failed.status).toBe(3)
  expect(failed.stderr).toMatch(/dead\.yaml does not boot:\n {2}dead \(failed\): .*never works \(.*dead\.yaml:2:9\)/)
  expect(failed.stderr).not.toMatch(/^ +at /m)
  const logged = await tenon(['call', 'dead.yaml', 'echo'], { cwd })
  expect(logged.stderr).toMatch(/"msg":"row \\"dead\\": activation failed/)
  expect(logged.stderr).not.toContain('dead.ts (bundled)')
  expect((await tenon(['--debug', 'call', 'dead.yaml', 'echo'], { cwd })).stderr).toMatch(/"stack":.*dead\.ts \(bundled\)/)
  const debug = await tenon(['--log-level', 'silent', '--debug', 'call', 'dead.yaml', 'echo'], { cwd })
  expect(debug.stderr).toMatch(/^ +at /m)
})

const dead = `import { definePlugin } from '@tenon/kernel'
export default definePlugin({ name: 'dead', activate() { throw new Error('never works') } })
`

it('CP-13 `check` ends with 0 or 1, and its JSON has a fixed shape', async () => {
  const cwd = await folder({ ...files, 'bad.yaml': 'plugins:\n  tools: toools\n  other: { use: tools, disabled: 1 }\n' })
  expect(await tenon(['check', 'tenon.yaml'], { cwd })).toEqual({ status: 0, stdout: 'ok tenon.yaml: 2 rows fit together\n', stderr: '' })
  expect((await tenon(['check', 'tenon.yaml', '--disable', 'mine'], { cwd })).stdout).toBe('ok tenon.yaml: 1 row fits together\n')
  expect(await tenon(['check', '--quiet', 'tenon.yaml'], { cwd })).toEqual({ status: 0, stdout: '', stderr: '' })
  const both = await tenon(['check', 'tenon.yaml', 'bad.yaml'], { cwd })
  expect(both.status).toBe(1)
  expect(both.stdout).toMatch(/2 errors in bad\.yaml\n$/)
  const json = await tenon(['check', '--json', 'bad.yaml', 'tenon.yaml'], { cwd })
  expect(json.status).toBe(1)
  expect(JSON.parse(json.stdout)).toEqual({
    ok: false,
    catalogs: [
      {
        file: `${cwd}/bad.yaml`,
        ok: false,
        diagnostics: [
          {
            ...{ severity: 'error', code: 'PLUGIN_UNKNOWN', message: 'row "tools": there is no plugin "toools"', hint: 'did you mean "tools"?' },
            ...{ row: 'tools', file: `${cwd}/bad.yaml`, line: 2, column: 10, endColumn: 16, source: '  tools: toools' },
          },
          {
            ...{ severity: 'error', code: 'CATALOG_SHAPE', message: 'row "other": disabled: expected a boolean, got 1', hint: 'write true or false' },
            ...{ row: 'other', file: `${cwd}/bad.yaml`, line: 3, column: 34, endColumn: 35, source: '  other: { use: tools, disabled: 1 }' },
          },
        ],
      },
      { file: `${cwd}/tenon.yaml`, ok: true, diagnostics: [] },
    ],
  })
})

it('CP-13 a `tenon.yaml` that is a link to nowhere is an error, and no reason to take the built-in default', async () => {
  const cwd = await folder()
  await symlink('nowhere', path.join(cwd, 'tenon.yaml'))
  const named = await tenon(['check', 'tenon.yaml'], { cwd })
  expect([named.status, named.stdout]).toEqual([1, expect.stringContaining('[CATALOG_UNREADABLE]')])
  expect(await tenon(['check'], { cwd })).toEqual(named)
  expect((await tenon(['call', 'bash'], { cwd })).status).toBe(3)
})

it('CP-13 `check` of the folder one is in names it', async () => {
  const cwd = await folder(files)
  const { status, stdout } = await tenon(['check', '.'], { cwd })
  expect([status, stdout]).toEqual([1, expect.stringMatching(/--> \.:1:1\n {2}hint: name a file in it, such as .*tenon\.yaml\n\n1 error in \.\n$/)])
})

it('CP-13 `mcp` of a composition that lacks what the server needs ends with 3, and says what', async () => {
  const optional = 'plugins:\n  shell-env: shell-env\n  mcp: { use: mcp-server, criticality: optional }\n'
  const cwd = await folder({ 'tenon.yaml': 'plugins:\n  shell-env: shell-env\n', 'optional.yaml': optional })
  const why = 'cannot be served over MCP; it has no tools: add the row `tools: tools`, or `extends: default`:\n'
  for (const [file, row] of [['tenon.yaml', 'tenon:mcp'] as const, ['optional.yaml', 'mcp'] as const]) {
    const { status, stdout, stderr } = await tenon(['mcp', file], { cwd })
    expect([status, stdout]).toEqual([3, ''])
    expect(stderr).toContain(`${file} ${why}  ${row} (waiting): row "${row}" waits for "tools" (no loaded plugin provides it)`)
  }
})

it('CP-13 `check` and `mcp` refuse two rows that serve over standard input and output, with the place and the fix; one may serve HTTP', async () => {
  const twice = 'extends: mcp\nplugins:\n  server: { use: mcp-server, with: { cwd: /tmp } }\n'
  const cwd = await folder({ 'twice.yaml': twice, 'apart.yaml': twice.replace('cwd: /tmp', 'transport: http') })
  const checked = await tenon(['check', 'twice.yaml'], { cwd })
  expect([checked.status, checked.stderr]).toEqual([1, ''])
  expect(checked.stdout).toMatch(
    /^error: rows "mcp" and "server" both serve MCP over standard input and output, .* \[CAPABILITY_TAKEN\]\n +--> twice\.yaml:3:18\n3 \| {3}server: .*\n {2}\| {18}\^{10}\n +hint: .*"mcp".* transport: http/,
  )
  const served = await tenon(['mcp', 'twice.yaml'], { cwd })
  expect([served.status, served.stdout]).toEqual([3, ''])
  expect(served.stderr).toContain('rows "mcp" and "server" both serve MCP')
  expect(await tenon(['check', 'apart.yaml'], { cwd })).toMatchObject({ status: 0, stdout: expect.stringMatching(/^ok apart\.yaml: \d+ rows fit/) })
})

it('CP-13 a token that is too short for HTTP is refused at its place, with a way to make one, and without telling it', async () => {
  const catalog = `extends: minimal\nplugins:\n  mcp: { use: mcp-server, with: { transport: http, token: "\${env:TOKEN}" } }\n`
  const cwd = await folder({ 'tenon.yaml': catalog })
  const { status, stdout } = await tenon(['check'], { cwd, env: { TOKEN: 'hush' } })
  expect(status).toBe(1)
  expect(stdout).toMatch(
    /^error: .*a token has at least 16 characters; `openssl rand -hex 16` makes one \[CONFIG_INVALID\]\n +--> tenon\.yaml:3:59\n/,
  )
  expect(stdout).not.toContain('hush')
})

it('CP-13 `--set`, `--enable` and `--disable` lie over the file, and are checked as it is', async () => {
  const cwd = await folder({ ...files, 'off.yaml': `${CATALOG.replace('mine: ./tools.ts', 'mine: { use: ./tools.ts, disabled: true }')}` })
  expect((await tenon(['call', 'off.yaml', 'echo', '{"text":"x"}'], { cwd })).stderr).toMatch(/unknown tool "echo"/)
  expect((await tenon(['call', 'off.yaml', '--enable', 'mine', 'echo', '{"text":"x"}'], { cwd })).stdout).toBe('x\n')
  expect((await tenon(['call', '--disable', 'mine', 'echo'], { cwd })).stderr).toMatch(/unknown tool "echo"/)
  expect((await tenon(['check', '--set', 'tool.a=1', 'tenon.yaml'], { cwd })).stdout).toMatch(
    /there is no row "tool".*\n.*\n.*\n.*\n.*did you mean "tools"\?/,
  )
  expect((await tenon(['check', '--disable', 'tools', 'tenon.yaml'], { cwd })).stdout).toMatch(/row "mine" needs "tools", which no row provides/)
})

it('CP-13 NO_COLOR and --no-color keep colours from a terminal, and nothing else gets them', async () => {
  const cwd = await folder({ 'bad.yaml': 'plugins:\n  tools: toools\n' })
  const args = ['check', 'bad.yaml']
  expect((await tenon(args, { cwd, terminal: true })).stdout).toContain('\u001b[')
  expect((await tenon(args, { cwd, terminal: true, env: { NO_COLOR: '1' } })).stdout).not.toContain('\u001b[')
  expect((await tenon([...args, '--no-color'], { cwd, terminal: true })).stdout).not.toContain('\u001b[')
  expect((await tenon(args, { cwd })).stdout).not.toContain('\u001b[')
})

it('CP-13 `graph` shows rows and bindings as a tree, as mermaid and as JSON', async () => {
  const cwd = await folder({ ...files, 'tenon.yaml': `${CATALOG}  off: { use: shell-env, when: { env: NEVER_SET } }\n` })
  expect(await tenon(['graph'], { cwd })).toEqual({
    status: 0,
    stderr: '',
    stdout: `tenon  ${cwd}/tenon.yaml
├─ mine: ./tools.ts
│  └─ tools ← tools
│     └─ reconciling ← the kernel
└─ off: shell-env  (skipped: NEVER_SET is not set)
`,
  })
  expect((await tenon(['graph', '--format', 'mermaid'], { cwd })).stdout).toBe(`flowchart LR
  row0["mine: ./tools.ts"]
  row1["off: shell-env"]:::idle
  row2["tools"]
  row0 -- "tools" --> row2
  classDef idle stroke-dasharray: 4
`)
  const json = JSON.parse((await tenon(['graph', '--format', 'json'], { cwd })).stdout) as { rows: readonly object[] }
  expect(json).toMatchObject({ name: 'tenon', ok: true, diagnostics: [], files: [`${cwd}/tenon.yaml`] })
  expect(json.rows[0]).toEqual({
    ...{ id: 'mine', use: './tools.ts', plugin: 'test-tools', state: 'active', optional: false, provides: [], injects: ['tools'] },
    ...{ bindings: { tools: 'tools' }, origins: [{ path: 'use', value: './tools.ts', file: `${cwd}/tenon.yaml`, line: 3, column: 9 }] },
  })
})

it('CP-13 `--version` is that of the package', async () => {
  expect(await tenon(['--version'], { cwd: await folder() })).toMatchObject({ status: 0, stdout: expect.stringMatching(/^\d+\.\d+\.\d+\n$/) })
})
