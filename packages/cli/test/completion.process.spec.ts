import { execFile, spawnSync } from 'node:child_process'
import { promisify } from 'node:util'
import { expect, it } from 'vitest'
import { folder, tenon } from './harness.ts'

const run = promisify(execFile)

async function complete(words: readonly string[], cwd: string): Promise<readonly string[]> {
  const { stdout: script } = await tenon(['completion', 'bash'], { cwd })
  const list = ['tenon', ...words].map((word) => `'${word}'`).join(' ')
  const program = `${script}\nCOMP_WORDS=(${list}); COMP_CWORD=${words.length}; _tenon; printf '%s\\n' "\${COMPREPLY[@]}"`
  const { stdout } = await run('bash', ['--norc', '-c', program], { cwd })
  return stdout.split('\n').filter(Boolean).toSorted()
}

it('CP-13 bash completes commands, their options, and catalog files', async () => {
  const cwd = await folder({ 'mine.yaml': '', 'other.txt': '' })
  expect(await complete(['ch'], cwd)).toEqual(['check'])
  expect(await complete(['--no'], cwd)).toEqual(['--no-color'])
  expect(await complete(['graph', '--fo'], cwd)).toEqual(['--format'])
  expect(await complete(['--quiet', 'run', '--wa'], cwd)).toEqual(['--watch'])
  expect(await complete(['check', 'mi'], cwd)).toEqual(['mine.yaml'])
  expect(await complete(['help', 'gr'], cwd)).toEqual(['graph'])
  expect(await complete(['new', 'pl'], cwd)).toEqual(['plugin'])
})

it('CP-13 bash completes a file name with spaces as one, whether they are typed with backslashes or in quotes', async () => {
  const cwd = await folder({ 'my file.yaml': '', 'my other[1].yaml': '' })
  for (const start of ['my', 'my\\ ', '"my ']) expect(await complete(['check', start], cwd)).toEqual(['my file.yaml', 'my other[1].yaml'])
})

it('CP-13 bash takes the value of an option for no command, and completes it from its choices alone', async () => {
  const cwd = await folder({ 'mine.yaml': '' })
  expect(await complete(['--log-level', 'debug', 'ch'], cwd)).toEqual(['check'])
  expect(await complete(['--log-level', '=', 'debug', 'ch'], cwd)).toEqual(['check'])
  expect(await complete(['--log-level=debug', 'ch'], cwd)).toEqual(['check'])
  expect(await complete(['--log-level', 'debug', 'run', '--set', 'tools.a', '=', 'b', ':', 'c', 'mi'], cwd)).toEqual(['mine.yaml'])
  for (const words of [
    ['graph', '--format', ''],
    ['graph', 'mine.yaml', '--format', '='],
    ['graph', '--format', '=', ''],
  ]) {
    expect(await complete(words, cwd)).toEqual(['json', 'mermaid', 'tree'])
  }
  expect(await complete(['graph', '--format=m'], cwd)).toEqual(['--format=mermaid'])
  expect(await complete(['run', '--log-level', 'f'], cwd)).toEqual(['fatal'])
  expect(await complete(['run', '--disable', ''], cwd)).toEqual([])
})

it('CP-13 bash completes an argument from its choices, and with files only where a catalog may stand', async () => {
  const cwd = await folder({ 'mine.yaml': '' })
  expect(await complete(['completion', ''], cwd)).toEqual(['bash', 'fish', 'zsh'])
  expect(await complete(['completion', 'bash', ''], cwd)).toEqual([])
  expect(await complete(['new', 'plugin', ''], cwd)).toEqual([])
  expect(await complete(['schema', ''], cwd)).toEqual([])
  expect(await complete(['call', ''], cwd)).toEqual(['mine.yaml'])
  expect(await complete(['check', 'mine.yaml', ''], cwd)).toEqual(['mine.yaml'])
})

const hasFish = spawnSync('fish', ['--version']).error === undefined

it.skipIf(!hasFish).each([
  ['--log-level debug ch', ['check']],
  ['graph --format ', ['json', 'mermaid', 'tree']],
  ['completion ', ['bash', 'fish', 'zsh']],
  ['new plugin ', []],
  ['check ', ['my file.yaml']],
])('CP-13 fish completes `tenon %s`', async (line, expected) => {
  const cwd = await folder({ 'my file.yaml': '' })
  const { stdout: script } = await tenon(['completion', 'fish'], { cwd })
  const { stdout } = await run('fish', ['--no-config', '-c', `${script}\ncomplete -C 'tenon ${line}'`], { cwd })
  const words = stdout.split('\n').map((offer) => offer.split('\t')[0] ?? '')
  expect(words.filter(Boolean).toSorted()).toEqual(expected)
})

it.each(['bash', 'zsh', 'fish'])('CP-13 there is a completion script for %s', async (shell) => {
  const { status, stdout } = await tenon(['completion', shell], { cwd: await folder() })
  expect(status).toBe(0)
  for (const command of ['run', 'call', 'check', 'graph', 'plugins', 'schema', 'new']) expect(stdout).toContain(command)
})

it('CP-13 another shell is a usage error', async () => {
  expect(await tenon(['completion', 'csh'], { cwd: await folder() })).toMatchObject({
    status: 2,
    stderr: expect.stringContaining('Allowed choices are bash, zsh, fish'),
  })
})
