import { tmpdir } from 'node:os'
import { definePlugin } from '@tenon/kernel'
import { hostOf, keptScripts, LocalShell, localShellConfig, pwsh } from '@tenon/local-shell'
import { Shell } from '@tenon/shell'
import { Subprocess } from '@tenon/subprocess'

/**
 * Provides `shell` with PowerShell: each command text is a fresh, non-interactive process without profile on this machine, not confined.
 * Settings and their defaults are those of `@tenon/local-shell`; without `executable` it looks for PowerShell 7, then on Windows for the
 * 5.1 that comes with it.
 */
export default definePlugin({
  name: 'local-pwsh',
  inject: [Subprocess],
  provides: [Shell],
  config: localShellConfig(process.platform),
  activate(scope, subprocess) {
    const { log } = scope
    const scripts = scope.keep(keptScripts(tmpdir()))
    const host = hostOf(process, scripts, (error, what) => log.warn({ err: error }, what))
    scope.provide(Shell, new LocalShell(pwsh, subprocess, scope.config, host))
  },
})
