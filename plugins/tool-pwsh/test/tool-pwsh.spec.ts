import { readdir, readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { definePlugin, Kernel } from '@tenon/kernel'
import { Shell, type ShellExecution, type ShellRequest, type ShellSpec } from '@tenon/shell'
import { pwshDialect } from '@tenon/shell-tool'
import { SystemPrompt } from '@tenon/system-prompt'
import { Tools } from '@tenon/tools'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import shellEnv from '../../shell-env/src/index.ts'
import systemPrompt from '../../system-prompt/src/index.ts'
import tools from '../../tools/src/index.ts'
import toolPwsh from '../src/index.ts'

type Session = Parameters<SystemPrompt['assemble']>[0]

const folderOf = (plugin: string): string => fileURLToPath(new URL(`../../${plugin}/src/`, import.meta.url))
const source = (plugin: string): Promise<string> => readFile(`${folderOf(plugin)}index.ts`, 'utf8')

/** An executor that is only there: nothing is run here. */
const idle: Shell = {
  sandboxMode: undefined,
  resolve: (request: ShellRequest) => request as ShellSpec,
  execute: () => new Promise<ShellExecution>(() => undefined),
}
const shell = definePlugin({ name: 'idle-shell', provides: [Shell], activate: (scope) => scope.provide(Shell, idle) })

describe('the pwsh tool', () => {
  let kernel: Kernel
  beforeEach(() => {
    kernel = new Kernel()
  })
  afterEach(() => kernel.close())

  const views = () =>
    kernel
      .get(Tools)
      ?.view()
      .tools.map(({ name, description }) => ({ name, description }))

  it('TB-29 is one file of at most 80 lines, and the bash tool but for its dialect', async () => {
    expect(await readdir(folderOf('tool-pwsh'))).toEqual(['index.ts'])
    const text = await source('tool-pwsh')
    expect(text.split('\n').length).toBeLessThanOrEqual(80)
    expect(text.replaceAll('pwsh', 'bash')).toBe(
      // Imports are sorted by name.
      (await source('tool-bash')).replace('{ bashDialect, installShellTool', '{ installShellTool, bashDialect'),
    )
  })

  it('TB-29 brings the tool and the section of its dialect, and takes them away', async () => {
    kernel.load(tools)
    kernel.load(systemPrompt)
    kernel.load(shellEnv)
    kernel.load(shell)
    const row = kernel.load(toolPwsh)
    await row.ready()
    expect(views()).toEqual([{ name: 'pwsh', description: pwshDialect.words.description }])
    const session = { id: 'one', cwd: '/', scope: kernel.scope, deliver: () => 'queued' } as unknown as Session
    const prompt = async () => (await kernel.get(SystemPrompt)?.assemble(session))?.text
    expect(await prompt()).toBe(pwshDialect.words.section)
    await row.unload()
    expect([views(), await prompt()]).toEqual([[], ''])
  })
})
