import type { Plugin } from '@tenon/kernel'

/** A plugin that a catalog file may name by one word. */
export interface FirstPartyPlugin {
  readonly name: string
  /** The package it comes from, for reloading its code; without one it cannot be reloaded. */
  readonly package?: string
  /** Imports the module whose default export it is; nothing is imported before. */
  load(): Promise<{ readonly default: Plugin<never> }>
}

export const firstParty: readonly FirstPartyPlugin[] = [
  { name: 'jobs', package: '@tenon/plugin-jobs', load: () => import('@tenon/plugin-jobs') },
  { name: 'local-bash', package: '@tenon/plugin-local-bash', load: () => import('@tenon/plugin-local-bash') },
  { name: 'local-pwsh', package: '@tenon/plugin-local-pwsh', load: () => import('@tenon/plugin-local-pwsh') },
  { name: 'local-subprocess', package: '@tenon/plugin-local-subprocess', load: () => import('@tenon/plugin-local-subprocess') },
  { name: 'mcp-server', package: '@tenon/plugin-mcp-server', load: () => import('@tenon/plugin-mcp-server') },
  { name: 'shell-env', package: '@tenon/plugin-shell-env', load: () => import('@tenon/plugin-shell-env') },
  { name: 'system-prompt', package: '@tenon/plugin-system-prompt', load: () => import('@tenon/plugin-system-prompt') },
  { name: 'tool-bash', package: '@tenon/plugin-tool-bash', load: () => import('@tenon/plugin-tool-bash') },
  { name: 'tool-jobs', package: '@tenon/plugin-tool-jobs', load: () => import('@tenon/plugin-tool-jobs') },
  { name: 'tool-pwsh', package: '@tenon/plugin-tool-pwsh', load: () => import('@tenon/plugin-tool-pwsh') },
  { name: 'tools', package: '@tenon/plugin-tools', load: () => import('@tenon/plugin-tools') },
]
