import { homedir } from 'node:os'
import { isAbsolute } from 'node:path'
import { definePlugin } from '@tenon/kernel'
import { ShellEnv } from '@tenon/shell-env'
import { z } from 'zod'
import { builtInVariables } from './built-in-variables.ts'
import { ContributorRegistry } from './contributor-registry.ts'

/** Provides `shell-env`: the `TENON_` variables of shell commands, built-in ones and those that plugins contribute. */
export default definePlugin({
  name: 'shell-env',
  provides: [ShellEnv],
  config: z
    .strictObject({
      /** TENON_HOME of commands. Default: the host's own TENON_HOME, else `~/.tenon`. */
      home: z.string().refine(isAbsolute, 'must be an absolute path').optional(),
    })
    .prefault({}),
  activate(scope) {
    const { log } = scope
    const builtIn = builtInVariables({ home: scope.config.home, env: process.env, homedir, cwd: () => process.cwd() })
    scope.provide(
      ShellEnv,
      new ContributorRegistry(builtIn, (error, contributor) => log.warn({ err: error, contributor }, 'a shell-env contribution was left out')),
    )
  },
})
