import { definePlugin, Reconciling } from '@tenon/kernel'
import { SystemPrompt } from '@tenon/system-prompt'
import { SystemPromptConfig } from './config.ts'
import { keptPrompt } from './kept.ts'
import { SectionRegistry } from './registry.ts'

/** Provides `system-prompt`: the sections, and their assembly. */
export default definePlugin({
  name: 'system-prompt',
  inject: [Reconciling],
  provides: [SystemPrompt],
  config: SystemPromptConfig,
  activate(scope, reconciling) {
    scope.provide(SystemPrompt, new SectionRegistry(scope, scope.keep(keptPrompt), scope.config, scope.log, reconciling))
  },
})
