import { execFile } from 'node:child_process'
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
