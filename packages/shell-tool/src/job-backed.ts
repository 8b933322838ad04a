import type { Jobs } from '@tenon/jobs'
import type { Logger } from '@tenon/kernel'
import type { Shell } from '@tenon/shell'
import type { ShellEnv } from '@tenon/shell-env'
import type { Tool, ToolCall } from '@tenon/tools'
import { resolveCommand } from './command.ts'
import { CommandJob } from './command-job.ts'
import type { ToolDialect } from './dialect.ts'
import { runInForeground } from './foreground.ts'
import { Hold } from './hold.ts'
import { type ShellToolInput, shellToolInput } from './input.ts'
import { renderValue } from './render-value.ts'
import { toolDescription } from './text.ts'
import { jobBackedSchema, type ShellToolValue } from './value.ts'

export interface JobBackedParts {
  readonly shell: Shell
  readonly env: ShellEnv
  readonly jobs: Jobs
  readonly log: Logger
}

/** The tool while jobs can start: a command is a job from its first moment, foreground is a property of the wait. */
export function jobBackedTool(
  dialect: ToolDialect,
  parts: JobBackedParts,
  promotion: boolean,
): Tool<ReturnType<typeof shellToolInput>, typeof jobBackedSchema> {
  const offers = { background: true, promotion }
  return {
    name: dialect.name,
    description: toolDescription(dialect.words.description, offers),
    input: shellToolInput(offers),
    output: jobBackedSchema,
    execute(input: ShellToolInput, call) {
      if (input.run_in_background === true) return startInBackground(dialect, parts, input, call)
      return promotion ? holdInForeground(dialect, parts, input, call) : runInForeground(parts, input, call)
    },
    render: (value) => renderValue(value as ShellToolValue),
  }
}

async function startInBackground(dialect: ToolDialect, parts: JobBackedParts, input: ShellToolInput, call: ToolCall): Promise<ShellToolValue> {
  const { timeoutMs, ...withoutTimeout } = input
  const job = commandJob(parts, withoutTimeout, call)
  const jobId = parts.jobs.start({ ...jobFacts(dialect, input, call), attachment: 'detached', run: (own) => job.run(own) })
  return { kind: 'background', jobId, ...(timeoutMs === undefined ? {} : { timeoutIgnored: true }) }
}

/** Refusals that leave nothing but the promise of a background: the command runs without it. */
const RUNS_WITHOUT = new Set<unknown>(['JOB_NO_CONTROLLER', 'JOB_LIMIT_TOTAL', 'JOBS_CLOSED'])

async function holdInForeground(dialect: ToolDialect, parts: JobBackedParts, input: ShellToolInput, call: ToolCall): Promise<ShellToolValue> {
  const job = commandJob(parts, input, call)
  let id: string
  try {
    id = parts.jobs.start({ ...jobFacts(dialect, input, call), attachment: 'foreground', run: (own) => job.run(own) })
  } catch (error) {
    const { code, message } = error as { code?: unknown; message?: unknown }
    if (!RUNS_WITHOUT.has(code)) throw error
    parts.log.warn({ call: call.id, code }, `tool "${dialect.name}": the command runs without a job: ${String(message)}`)
    return runInForeground(parts, input, call)
  }
  return new Hold(parts.jobs, id, job, call).value()
}

function commandJob(parts: JobBackedParts, input: ShellToolInput, call: ToolCall): CommandJob {
  return new CommandJob(parts.shell, (signal) => resolveCommand(parts, input, call, { onExpiry: 'none', signal }))
}

function jobFacts({ name }: ToolDialect, { command, description }: ShellToolInput, { session }: ToolCall) {
  return { kind: name, label: command, detail: { command, description }, owner: session }
}
