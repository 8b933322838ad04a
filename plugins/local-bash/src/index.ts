import { tmpdir } from 'node:os'
import { definePlugin } from '@tenon/kernel'
import { bash, hostOf, keptScripts, LocalShell, localShellConfig } from '@tenon/local-shell'
import { Shell } from '@tenon/shell'
import { Subprocess } from '@tenon/subprocess'

/**
 * Provides `shell` with bash: each command text is a fresh `bash --norc -c` on this machine, not confined. Settings and their defaults
 * are those of `@tenon/local-shell`; on Windows set `executable`, since a bare `bash` may be the launcher of another system.
 */
export default definePlugin({
  name: 'local-bash',
  inject: [Subprocess],
  provides: [Shell],
  config: localShellConfig(process.platform),
  activate(scope, subprocess) {
    const { log } = scope
    const scripts = scope.keep(keptScripts(tmpdir()))
    const host = hostOf(process, scripts, (error, what) => log.warn({ err: error }, what))
    scope.provide(Shell, new LocalShell(bash, subprocess, scope.config, host))
  },
})
