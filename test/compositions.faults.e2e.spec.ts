import { execFile } from 'node:child_process'
import { mkdtemp, realpath, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { expect, it, onTestFinished } from 'vitest'

const run = promisify(execFile)
const root = fileURLToPath(new URL('..', import.meta.url))
const executable = path.join(root, 'packages', 'cli', 'bin', 'tenon.js')

const FILES = {
  'team.yaml': `# What all agents of the team have.
extends: default
plugins:
  shell: { with: { timeoutMs: 2 min, maxTimoutMs: 600000 } }
  lint: ./lint.ts
`,
  'tenon.yaml': `name: reviewer
extends: ./team.yaml
descripton: reads pull requests
plugins:
  tool-bash: { disabled: "no" }
  jobs: { disabled: true }
  bash: local-bash
  weather: "@acme/weather"
  shell-env:
    with: { home: "\${env:AGENT_HOME}" }
`,
  'lint.ts': `import { definePlugin } from '@tenon/kernel'

export default definePlugin({ name: 'lint', activate() { throw new Error('a check activates nothing') } })
`,
}

/** What `tenon check` prints, the folder left out. */
async function checked(): Promise<{ readonly code: number; readonly printed: string }> {
  const folder = await realpath(await mkdtemp(path.join(tmpdir(), 'tenon-faults-')))
  onTestFinished(() => rm(folder, { recursive: true }))
  for (const [name, text] of Object.entries(FILES)) await writeFile(path.join(folder, name), text)
  const env = { PATH: process.env.PATH, HOME: folder }
  const { code, stdout, stderr } = await run(process.execPath, [executable, 'check'], { cwd: folder, env }).then(
    (done) => ({ code: 0, ...done }),
    (error: { readonly code: number; readonly stdout: string; readonly stderr: string }) => error,
  )
  return { code, printed: `${stdout}${stderr}`.replaceAll(folder, '/home/ada/reviewer').replaceAll(root, '/opt/tenon/') }
}

it('CP-02 eight faults of eight kinds, in two files, are eight diagnostics, each at its place and with what to do', async () => {
  const { code, printed } = await checked()
  expect(code).toBe(1)
  const files = Object.entries(FILES).map(([name, text]) => `\`${name}\`\n\n\`\`\`\n${text}\`\`\`\n`)
  const story = `# A catalog with eight faults\n\n${files.join('\n')}\n\`tenon check\`\n\n\`\`\`\n${printed}\`\`\`\n`
  await expect(story).toMatchFileSnapshot('./compositions/eight-faults.md')
  const kinds = [...printed.matchAll(/^error: .*\[([A-Z_]+)\]$/gm)].map(([, kind]) => kind)
  expect([kinds.length, new Set(kinds).size]).toEqual([8, 8])
  expect(printed.match(/^ +hint: /gm)).toHaveLength(8)
})
