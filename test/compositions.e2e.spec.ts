import { execFile, spawnSync } from 'node:child_process'
import { readdirSync } from 'node:fs'
import { basename } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { compositions } from '@tenon/catalog'
import type { KernelReport } from '@tenon/kernel'
import { expect, it } from 'vitest'
import { playedScript, STAND_IN } from '../plugins/local-pwsh/test/played-script.ts'

const run = promisify(execFile)
const catalogs = readdirSync(new URL('../catalog/', import.meta.url)).filter((name) => name.endsWith('.yaml'))
const program = fileURLToPath(new URL('./programs/open-and-close.js', import.meta.url))

/** Where there is no PowerShell, the program that stands in for it, and a command in its words. */
function powerShell(name: string): readonly string[] {
  if (name !== 'windows.yaml') return []
  const isFound = spawnSync('pwsh', ['-NoProfile', '-Command', 'exit 0']).status === 0
  return isFound ? [] : [STAND_IN, playedScript([{ do: 'print', text: 'here\n' }])]
}

interface Told {
  readonly report: KernelReport
  readonly said: string | undefined
  readonly after: {
    readonly resources: readonly string[]
    readonly listeners: Readonly<Record<string, number>>
    readonly children: number
    readonly descriptors: number
  }
}

it('there are compositions to try', () => {
  expect(catalogs.toSorted()).toEqual(
    Object.values(compositions)
      .map((file) => basename(file))
      .toSorted(),
  )
})

it.each(catalogs)('CP-01 %s boots, is inspected, runs a command, and closes with nothing left', async (name) => {
  const catalog = fileURLToPath(new URL(`../catalog/${name}`, import.meta.url))
  // Nobody ends the program: it ends by itself, which it can only with nothing left in its event loop.
  const { stdout, stderr } = await run(process.execPath, [program, catalog, ...powerShell(name)], { timeout: 30_000 })
  const logged = stderr
    .split('\n')
    .filter(Boolean)
    .map((line) => (JSON.parse(line) as { readonly msg: string }).msg)
  // In each of its two rounds: this program keeps standard input and output.
  const idle = expect.stringContaining('row "mcp" serves nothing')
  expect(logged).toEqual(name === 'mcp.yaml' ? [idle, idle] : [])
  const { report, said, after } = JSON.parse(stdout) as Told
  const { descriptors, ...left } = after
  expect(report.settled).toBe(true)
  expect(report.rows.filter(({ phase }) => phase !== 'active')).toEqual([])
  expect(Object.fromEntries(report.rows.map(({ id, plugin, bindings, offers }) => [id, { plugin, bindings, offers }]))).toMatchSnapshot()
  expect(said).toBe(report.provisions.tools === undefined ? undefined : 'here\n')
  expect(left).toEqual({ resources: [], listeners: {}, children: 0 })
  // How many more than after the first round.
  expect(descriptors).toBeLessThanOrEqual(0)
})
