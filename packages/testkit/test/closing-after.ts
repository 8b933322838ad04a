import { definePlugin, type PluginScope } from '@tenon/kernel'
import { type HarnessOptions, harness } from '@tenon/testkit'
import { expect } from 'vitest'

/** What the close of a harness says of a plugin that does this, and nothing else. */
export async function closingAfter(
  activate: (scope: PluginScope<undefined>) => void | Promise<void>,
  options: HarnessOptions = {},
): Promise<unknown> {
  const app = await harness([definePlugin({ name: 'subject', activate: (scope) => activate(scope) })], { graceMs: 60, ...options })
  return app.close().catch((error: unknown) => error)
}

export function leftBehind(...kinds: string[]): unknown {
  return expect.objectContaining({ code: 'LEFT_BEHIND', details: kinds.map((kind) => expect.objectContaining({ kind })) })
}
