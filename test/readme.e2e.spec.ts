import { execFile } from 'node:child_process'
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { expect, it } from 'vitest'
import { type Fence, fencesIn } from './docs/markdown.ts'

const run = promisify(execFile)
const root = dirname(dirname(fileURLToPath(import.meta.url)))

it('the README: its plugin, in a folder beside the checkout, is called with its command', async () => {
  const readme = fencesIn(await readFile(join(root, 'README.md'), 'utf8'))
  const fence = (what: (one: Fence) => boolean): string => {
    const found = readme.filter(what)
    expect(found).toHaveLength(1)
    return `${found[0]?.text}\n`
  }
  const parent = await mkdtemp(join(tmpdir(), 'tenon-readme-'))
  try {
    await mkdir(join(parent, 'add'))
    await writeFile(
      join(parent, 'add', 'add.ts'),
      fence(({ info, text }) => info === 'ts' && text.includes('export default')),
    )
    await writeFile(
      join(parent, 'add', 'tenon.yaml'),
      fence(({ info }) => info === 'yaml'),
    )
    const command = fence(({ info, text }) => info === 'sh' && text.includes(' call ../add/')).replaceAll('../add/', `${parent}/add/`)
    expect(await run('sh', ['-c', command], { cwd: root })).toEqual({ stdout: '5\n', stderr: '' })
  } finally {
    await rm(parent, { recursive: true })
  }
})
