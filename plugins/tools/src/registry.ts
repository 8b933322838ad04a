import { Announcer, settledInTime } from '@tenon/announcer'
import type { Emitter, Logger, Reconciling, Scope } from '@tenon/kernel'
import {
  type CallEvent,
  type Middleware,
  type RawTool,
  type Tool,
  ToolError,
  type ToolRequest,
  type ToolResult,
  type Tools,
  type ToolsChange,
  type ToolView,
} from '@tenon/tools'
import type { z } from 'zod'
import { Catalogue } from './catalogue.ts'
import type { ToolsConfig } from './config.ts'
import { defineTool } from './definition.ts'
import type { KeptTools, Policy, View } from './kept.ts'
import { Pipeline } from './pipeline.ts'

export interface RegistryParts {
  readonly config: ToolsConfig
  readonly log: Logger
  readonly reconciling: Reconciling
  /** Monotonic milliseconds. */
  now(): number
}

/** One activation's view of what the row keeps; one of an earlier activation keeps working. */
export class ToolRegistry implements Tools {
  readonly changed: Emitter<ToolsChange>
  readonly calls: Emitter<CallEvent>
  readonly #kept: KeptTools
  readonly #catalogue: Catalogue
  readonly #pipeline: Pipeline

  constructor(scope: Scope, kept: KeptTools, { config, log, reconciling, now }: RegistryParts) {
    this.#kept = kept
    this.changed = kept.changed
    this.calls = kept.calls
    this.#catalogue = new Catalogue(kept, log)
    this.#pipeline = new Pipeline(kept, this.#catalogue, reconciling, {
      config,
      log,
      now,
      approver: () => (kept.approver?.present === true ? kept.approver : undefined),
      async rest(signal) {
        if (reconciling.pending().length > 0) await settledInTime(reconciling, signal, config.reconcileWaitMs)
      },
    })
    const announcer = new Announcer(scope, reconciling, config.reconcileWaitMs, () => {
      const change = this.#catalogue.takeChange()
      if (change !== undefined) this.changed.emit(change)
    })
    kept.touched = () => announcer.touch()
    // What the activation before this one left unannounced.
    announcer.touch()
  }

  register<I extends z.ZodObject, O extends z.ZodType>(scope: Scope, tool: Tool<I, O> | RawTool): void {
    this.#catalogue.add(scope, defineTool(tool as Tool | RawTool, this.#kept.converted))
  }

  use(scope: Scope, middleware: Middleware): void {
    const policy = readPolicy(middleware)
    scope.defer(() => {
      this.#kept.policies = this.#kept.policies.filter((other) => other !== policy)
    })
    this.#kept.policies = [...this.#kept.policies, policy]
  }

  get(name: string): ToolView | undefined {
    return this.#catalogue.get(name)
  }

  view(): View {
    return this.#catalogue.view()
  }

  execute(request: ToolRequest): Promise<ToolResult> {
    return this.#pipeline.execute(request)
  }
}

const HOOKS = ['before', 'guard', 'around', 'after'] as const

/** @throws ToolError TOOL_INVALID */
function readPolicy(middleware: Middleware): Policy {
  const { name, budgetMs } = middleware
  if (typeof name !== 'string' || name.trim() === '') throw new ToolError('TOOL_INVALID', 'middleware: name must not be blank')
  if (budgetMs !== undefined && !(Number.isInteger(budgetMs) && budgetMs >= 1 && budgetMs <= 2_147_483_647)) {
    throw new ToolError('TOOL_INVALID', `middleware "${name}": budgetMs must be an integer from 1 to 2147483647`)
  }
  for (const hook of HOOKS) {
    if (middleware[hook] !== undefined && typeof middleware[hook] !== 'function') {
      throw new ToolError('TOOL_INVALID', `middleware "${name}": ${hook} must be a function`)
    }
  }
  return { middleware, name, budgetMs }
}
