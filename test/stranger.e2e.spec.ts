import { execFile } from 'node:child_process'
import { mkdir, mkdtemp, realpath, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { expect, it, onTestFinished } from 'vitest'

const run = promisify(execFile)
const executable = fileURLToPath(new URL('../packages/cli/bin/tenon.js', import.meta.url))

/** A folder that knows nothing of this repository: no packages, no settings. */
async function strange(files: Readonly<Record<string, string>>): Promise<string> {
  const root = await realpath(await mkdtemp(path.join(tmpdir(), 'tenon-stranger-')))
  onTestFinished(() => rm(root, { recursive: true, force: true }))
  for (const [name, text] of Object.entries(files)) {
    await mkdir(path.dirname(path.join(root, name)), { recursive: true })
    await writeFile(path.join(root, name), text)
  }
  return root
}

const plugin = `import { definePlugin } from '@tenon/kernel'
import { Shell } from '@tenon/shell'
import { Tools } from '@tenon/tools'
import { z } from 'zod'
import { shout } from './shout.ts'

export default definePlugin({
  name: 'greet',
  inject: [Tools, Shell],
  config: z.strictObject({ greeting: z.string().default('hello') }).prefault({}),
  activate(scope, tools, shell) {
    tools.register(scope, {
      name: 'greet',
      description: 'Greets.',
      input: z.strictObject({ who: z.string().describe('Whom.') }),
      output: z.strictObject({ text: z.string(), bash: z.string() }),
      async execute({ who }) {
        const execution = await shell.execute(shell.resolve({ command: 'echo $BASH_VERSION', workdir: process.cwd() }))
        const { stdout } = await execution.result()
        return { text: shout(\`\${scope.config.greeting} \${who}\`), bash: stdout.text }
      },
      render: ({ text }) => [{ type: 'text', text }],
    })
  },
})
`

const files = {
  'tenon.yaml': 'extends: default\nplugins:\n  greet: { use: ./greet.ts, with: { greeting: hi } }\n',
  'greet.ts': plugin,
  'shout.ts': "export const shout = (text: string): string => text.toUpperCase() + '!'\n",
}

it('CP-06 a plugin outside the repository, one file of TypeScript beside another, loads and is called', async () => {
  const cwd = await strange(files)
  const { stdout } = await run(process.execPath, [executable, 'call', '--json', 'greet', '{"who":"Ada"}'], { cwd })
  expect(JSON.parse(stdout)).toEqual({ text: 'HI ADA!', bash: expect.stringMatching(/^\d+\.\d+/) })
})

it("CP-06 a plugin package is found from the catalog's folder, and gets the runtime's contracts where it brings none", async () => {
  const javascript = plugin.replace('./shout.ts', './shout.js')
  const cwd = await strange({
    'conf/agent.yaml': 'extends: default\nplugins:\n  greet: { use: "@acme/greet", with: { greeting: hello } }\n',
    'node_modules/@acme/greet/package.json': '{ "name": "@acme/greet", "version": "1.0.0", "type": "module", "exports": "./index.js" }',
    'node_modules/@acme/greet/index.js': "export { default } from './greet.js'\n",
    'node_modules/@acme/greet/greet.js': javascript,
    'node_modules/@acme/greet/shout.js': 'export const shout = (text) => text\n',
  })
  const { stdout } = await run(process.execPath, [executable, 'call', 'conf/agent.yaml', 'greet', '{"who":"Bob"}'], { cwd })
  expect(stdout).toBe('hello Bob\n')
})

it('CP-06 a fault in it is told with its place, before anything runs', async () => {
  const cwd = await strange({ ...files, 'shout.ts': 'export const shout = (text: string): string => {\n' })
  const failure = await run(process.execPath, [executable, 'check'], { cwd }).catch((error: { stdout: string; code: number }) => error)
  expect(failure).toMatchObject({ code: 1, stdout: expect.stringMatching(/row "greet": .*shout\.ts:2:\d+: .*\n.*tenon\.yaml:3:17/) })
})
