import { accessSync, constants } from 'node:fs'
import { delimiter, join } from 'node:path'
import { benchOf, describeShell, openKernelWorld, type ShellUnderTest } from '@tenon/shell/conformance'
import { describe, expect, it } from 'vitest'
import localSubprocess from '../../local-subprocess/test/launched.ts'
import localPwsh from '../src/index.ts'
import { longPowershellScript, powershellScript } from './powershell-script.ts'

const found = (process.env.PATH ?? '').split(delimiter).some((directory) => {
  try {
    accessSync(join(directory, process.platform === 'win32' ? 'pwsh.exe' : 'pwsh'), constants.X_OK)
    return true
  } catch {
    return false
  }
})

const real: ShellUnderTest = {
  name: 'local-pwsh over the PowerShell of this machine',
  open: (settings) => openKernelWorld(localSubprocess, localPwsh, settings),
  script: powershellScript,
  longScript: longPowershellScript,
  many: 50,
}

describe.skipIf(!found)('a real PowerShell', () => {
  describeShell(real)
  const bench = benchOf(real)

  it.each([
    [`sh -c 'exit 7'`, 7],
    [`Get-Item /no/such/item`, 1],
    [`sh -c 'exit 7'\nWrite-Output fine`, 0],
    ['exit 3', 3],
    [`throw 'x'`, 1],
    ['$null', 0],
    ['Set-StrictMode -Version Latest\nGet-Item /no/such/item', 1],
    ['param($a = 4)\nexit $a', 4],
    ['param()\nGet-Item /no/such/item', 1],
    [`param()\nsh -c 'exit 9'`, 9],
    // The grammar that stands in for the parser takes a backtick and what follows for one word, so only this tells.
    ['Write-Output a `', 0],
    ['Get-Date |', 1],
  ])('SH-34 B041 %j exits with %i', (text, code) => bench({}, async ({ run }) => expect((await run(text)).exitCode).toBe(code)))

  it('SH-34 the preamble changes neither output nor line numbers', () =>
    bench({}, async ({ run }) => {
      expect(await run('$?; $MyInvocation.ScriptLineNumber\n$MyInvocation.ScriptLineNumber')).toMatchObject({ stderr: { text: '' } })
      expect((await run('$?')).stdout.text.trim()).toBe('True')
      expect((await run("\n\nthrow 'here'")).stderr.text).toMatch(/Line|:3/)
    }))

  it.each([
    'param($t = "é ≤ 测试")\n$t',
    'using namespace System.Text\n"é ≤ 测试"',
    '#requires -Version 5\n"é ≤ 测试"',
    '[CmdletBinding()]\nparam()\n"é ≤ 测试"',
    '"é ≤ 测试" # comment',
    `"é ≤ 测试" #${'x'.repeat(200_000)}`,
    `$f = New-TemporaryFile; 'é ≤ 测试' > $f; Get-Content $f; Remove-Item $f`,
  ])('SH-35 B068 runs, with its output exact: %.20s', (text) =>
    bench({}, async ({ run }) => expect(await run(text)).toMatchObject({ exitCode: 0, stdout: { text: expect.stringMatching(/^é ≤ 测试\r?\n$/) } })),
  )
})
