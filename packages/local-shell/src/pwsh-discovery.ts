import { win32 } from 'node:path'
import type { EnvEntries } from '@tenon/subprocess'
import type { DiscoveryInput } from './dialect.ts'

/**
 * The configured program, unchecked; else on Windows the first of PowerShell 7's own directory, the search path and the PowerShell 5.1
 * that comes with Windows; else the bare name. Store aliases are links, and are taken: a dangling one fails loudly when it is resolved.
 */
export function discoverPwsh({ configured, env, platform, lstat }: DiscoveryInput): string {
  if (configured !== undefined && configured !== '') return configured
  if (platform !== 'win32') return 'pwsh'
  const programFiles = variable(env, 'ProgramFiles') ?? 'C:\\Program Files'
  const systemRoot = variable(env, 'SystemRoot') ?? 'C:\\Windows'
  const candidates = [
    win32.join(programFiles, 'PowerShell', '7', 'pwsh.exe'),
    ...searchPath(env).map((directory) => win32.join(directory, 'pwsh.exe')),
    win32.join(systemRoot, 'System32', 'WindowsPowerShell', 'v1.0', 'powershell.exe'),
  ]
  for (const candidate of candidates) {
    const kind = lstat(candidate)
    if (kind === 'file' || kind === 'link') return candidate
  }
  return 'pwsh'
}

function searchPath(env: EnvEntries): string[] {
  return (variable(env, 'PATH') ?? '')
    .split(';')
    .map((entry) => entry.trim().replace(/^"(.*)"$/, '$1'))
    .filter((entry) => entry !== '')
}

/** Names of variables differ in more than case on Windows; an empty value is as good as none. */
function variable(env: EnvEntries, name: string): string | undefined {
  const key = Object.keys(env).find((candidate) => candidate.toUpperCase() === name.toUpperCase())
  const value = key === undefined ? undefined : env[key]
  return value === '' ? undefined : value
}
