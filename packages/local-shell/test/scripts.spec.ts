import { mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { keptScripts } from '../src/index.ts'
import { removeScript, removeScripts, type ScriptDirectory, scriptDirectory, writeScript } from '../src/script-directory.ts'
import { withExecutor } from './executor.ts'

async function opened(): Promise<{ parent: string; scripts: ScriptDirectory }> {
  const parent = await mkdtemp(join(tmpdir(), 'tenon-scripts-'))
  const scripts = scriptDirectory(parent)
  onTestFinished(async () => {
    await removeScripts(scripts)
    await rm(parent, { recursive: true, force: true })
  })
  return { parent, scripts }
}

describe('private scripts', () => {
  it.each(['0000', '0277', '0477', '0777'])(
    'SH-27 are made with the first one, in one directory, each under a name of its own, for their owner alone (umask %s)',
    async (mask) => {
      const { parent, scripts } = await opened()
      expect(await readdir(parent)).toEqual([])
      const umask = process.umask(mask)
      const paths = await Promise.all(Array.from({ length: 20 }, (_, n) => writeScript(scripts, 'sh', `${n}`))).finally(() => process.umask(umask))
      expect(await readdir(parent)).toHaveLength(1)
      expect(new Set(paths).size).toBe(20)
      expect(await Promise.all(paths.map((path) => readFile(path, 'utf8')))).toEqual(paths.map((_, n) => `${n}`))
      expect(new Set(await Promise.all(paths.map(async (path) => (await stat(path)).mode & 0o777)))).toEqual(new Set([0o600]))
      expect((await stat(scripts.path ?? '')).mode & 0o777).toBe(0o700)
    },
  )

  it('SH-27 never go over a file that somebody else has put there, and that file stays', async () => {
    const { scripts } = await opened()
    const first = await writeScript(scripts, 'sh', 'first')
    const planted = join(scripts.path ?? '', '2.sh')
    await writeFile(planted, 'planted')
    await expect(writeScript(scripts, 'sh', 'second')).rejects.toMatchObject({ code: 'EEXIST' })
    expect([await readFile(first, 'utf8'), await readFile(planted, 'utf8')]).toEqual(['first', 'planted'])
    expect(await readFile(await writeScript(scripts, 'sh', 'third'), 'utf8')).toBe('third')
  })

  it('SH-27 that are gone already are no fault, and go together with their directory', async () => {
    const { parent, scripts } = await opened()
    const path = await writeScript(scripts, 'sh', '')
    await removeScript(path)
    await removeScript(path)
    await writeScript(scripts, 'ps1', '')
    await removeScripts(scripts)
    await removeScripts(scripts)
    expect(await readdir(parent)).toEqual([])
  })

  it('SH-27 are not written any more once their row has gone, not even into a new directory', async () => {
    const { parent, scripts } = await opened()
    await writeScript(scripts, 'sh', '')
    await removeScripts(scripts)
    await expect(writeScript(scripts, 'sh', '')).rejects.toThrow('the executor was removed while the command was being prepared')
    expect(await readdir(parent)).toEqual([])
  })

  it('SH-27 whose directory could not be made leave nothing to remove', async () => {
    const { parent, scripts } = await opened()
    Object.assign(scripts, { parent: join(parent, 'missing') })
    await expect(writeScript(scripts, 'sh', '')).rejects.toMatchObject({ code: 'ENOENT', syscall: 'mkdtemp' })
    await removeScripts(scripts)
    expect(await readdir(parent)).toEqual([])
  })

  it('SH-27 in a relative directory are in that of the moment their row began, wherever the host goes', () => {
    const before = process.cwd()
    try {
      process.chdir('/')
      const scripts = keptScripts('some/where').create()
      process.chdir('/tmp')
      expect(scripts.parent).toBe('/some/where')
    } finally {
      process.chdir(before)
    }
  })

  it('SH-27 of however many executors go when the process exits, by one listener, which goes with the last of them', async () => {
    const before = process.listeners('exit')
    const all = await Promise.all(Array.from({ length: 12 }, opened))
    await Promise.all(all.map(({ scripts }) => writeScript(scripts, 'sh', '')))
    const added = process.listeners('exit').filter((listener) => !before.includes(listener))
    expect(added).toHaveLength(1)
    const [first, second, ...others] = all
    if (first === undefined || second === undefined) throw new Error('none was opened')
    await removeScripts(first.scripts)
    // One that was taken before is no obstacle.
    await rm(second.scripts.path ?? '', { recursive: true })
    added[0]?.call(process, 0)
    expect(await Promise.all(all.map(({ parent }) => readdir(parent)))).toEqual(all.map(() => []))
    await Promise.all([second, ...others].map(({ scripts }) => removeScripts(scripts)))
    expect(process.listeners('exit')).toEqual(before)
  })

  it('SH-24 are what a row keeps, and what ends with it', async () => {
    const { parent } = await opened()
    const spec = keptScripts(parent)
    const scripts = spec.create()
    await writeScript(scripts, 'sh', '')
    expect(spec).toMatchObject({ key: 'scripts', version: 2 })
    await spec.dispose?.(scripts)
    expect(await readdir(parent)).toEqual([])
  })
})

describe('a long command whose script cannot be written', () => {
  it('SH-15 because somebody put a file there, or the row has gone, is a failed start with that cause, and nothing runs', () =>
    withExecutor({}, async ({ execute, processes, host, directory }) => {
      const command = 'x'.repeat(100_000)
      await execute({ command })
      await writeFile(join(host.scripts.path ?? '', '2.sh'), '')
      const refused = await execute({ command })
      expect(refused.readOutput().delta).toMatch(/^\[stderr\]\nspawn failed: EEXIST/)
      await expect(refused.result()).rejects.toMatchObject({ code: 'SHELL_SPAWN', cause: { code: 'EEXIST' } })
      await removeScripts(host.scripts)
      const late = await execute({ command })
      expect(late.status).toBe('killed')
      await expect(late.result()).rejects.toMatchObject({ code: 'SHELL_SPAWN', message: expect.stringContaining('the executor was removed') })
      expect(processes.spawned).toHaveLength(1)
      await mkdir(join(directory, 'used'))
      const short = await execute({ command: 'true', workdir: join(directory, 'used') })
      expect(short.status).toBe('running')
    }))
})
