import { definePlugin, Reconciling } from '@tenon/kernel'
import { Tools } from '@tenon/tools'
import { followApprover } from './approver.ts'
import { ToolsConfig } from './config.ts'
import { keptTools } from './kept.ts'
import { ToolRegistry } from './registry.ts'

/** Provides `tools`: the registry and its pipeline. */
export default definePlugin({
  name: 'tools',
  inject: [Reconciling],
  provides: [Tools],
  config: ToolsConfig,
  activate(scope, reconciling) {
    const kept = scope.keep(keptTools)
    followApprover(scope, kept)
    const now = (): number => performance.now()
    scope.provide(Tools, new ToolRegistry(scope, kept, { config: scope.config, log: scope.log, reconciling, now }))
  },
})
