import { describe, expect, it } from 'vitest'
import { type DiscoveryInput, pwsh } from '../src/index.ts'

type Kind = ReturnType<DiscoveryInput['lstat']>

const SEVEN = 'C:\\Program Files\\PowerShell\\7\\pwsh.exe'
const FIVE = 'C:\\Windows\\System32\\WindowsPowerShell\\v1.0\\powershell.exe'

/** Discovery on Windows with these files; what it looked at comes along. */
function onWindows(files: Record<string, Kind>, env: Record<string, string | undefined> = {}, configured?: string) {
  const looked: string[] = []
  const program = pwsh.discover({
    env,
    platform: 'win32',
    lstat: (path) => {
      looked.push(path)
      return files[path] ?? 'missing'
    },
    ...(configured !== undefined && { configured }),
  })
  return { program, looked }
}

describe('discovery of PowerShell', () => {
  it.each<[string, Record<string, Kind>, Record<string, string | undefined>, string]>([
    ['PowerShell 7 in its own directory', { [SEVEN]: 'file', [FIVE]: 'file' }, {}, SEVEN],
    [
      'its directory is where ProgramFiles says',
      { 'D:\\P\\PowerShell\\7\\pwsh.exe': 'file' },
      { ProgramFiles: 'D:\\P' },
      'D:\\P\\PowerShell\\7\\pwsh.exe',
    ],
    [
      'the name of a variable may have any case',
      { 'D:\\P\\PowerShell\\7\\pwsh.exe': 'file' },
      { PROGRAMFILES: 'D:\\P' },
      'D:\\P\\PowerShell\\7\\pwsh.exe',
    ],
    ['an empty root is a missing one', { [SEVEN]: 'file' }, { ProgramFiles: '' }, SEVEN],
    ['a link of the store', { 'C:\\Apps\\pwsh.exe': 'link', [FIVE]: 'file' }, { Path: 'C:\\Apps' }, 'C:\\Apps\\pwsh.exe'],
    ['a dangling link is taken, and fails when it is resolved', { 'C:\\Apps\\pwsh.exe': 'link' }, { PATH: 'C:\\Apps' }, 'C:\\Apps\\pwsh.exe'],
    ['a directory of that name is skipped', { [SEVEN]: 'other', 'C:\\B\\pwsh.exe': 'file' }, { PATH: 'C:\\A;C:\\B' }, 'C:\\B\\pwsh.exe'],
    ['the first entry of the search path wins', { 'C:\\A\\pwsh.exe': 'file', 'C:\\B\\pwsh.exe': 'file' }, { PATH: 'C:\\A;C:\\B' }, 'C:\\A\\pwsh.exe'],
    ['quoted, blank and padded entries', { 'C:\\My Apps\\pwsh.exe': 'file' }, { PATH: ';; "C:\\My Apps" ;' }, 'C:\\My Apps\\pwsh.exe'],
    ['5.1 where there is no other', { [FIVE]: 'file' }, { PATH: 'C:\\A' }, FIVE],
    [
      '5.1 where SystemRoot says',
      { 'W:\\System32\\WindowsPowerShell\\v1.0\\powershell.exe': 'file' },
      { SystemRoot: 'W:' },
      'W:\\System32\\WindowsPowerShell\\v1.0\\powershell.exe',
    ],
    ['the bare name where there is none', {}, { PATH: 'C:\\A' }, 'pwsh'],
  ])('SH-36 %s', (_what, files, env, program) => expect(onWindows(files, env).program).toBe(program))

  it('SH-36 looks in order: its own directory, the search path, 5.1', () =>
    expect(onWindows({}, { PATH: 'C:\\A;C:\\B' }).looked).toEqual([SEVEN, 'C:\\A\\pwsh.exe', 'C:\\B\\pwsh.exe', FIVE]))

  it('SH-36 a configured program wins unchecked, also a missing one', () =>
    expect(onWindows({ [SEVEN]: 'file' }, {}, 'X:\\pwsh.exe')).toEqual({ program: 'X:\\pwsh.exe', looked: [] }))

  it('SH-36 an empty configured value is none', () => expect(onWindows({ [SEVEN]: 'file' }, {}, '').program).toBe(SEVEN))

  it.each(['linux', 'darwin'] as const)('SH-36 on %s it is the bare name, and nothing is looked at', (platform) => {
    const lstat = (): never => {
      throw new Error('must not look')
    }
    expect(pwsh.discover({ env: { PATH: '/opt/ps', ProgramFiles: '/x' }, platform, lstat })).toBe('pwsh')
    expect(pwsh.discover({ env: {}, platform, lstat, configured: '/opt/ps/pwsh' })).toBe('/opt/ps/pwsh')
  })
})
