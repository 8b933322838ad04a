import type { JobId, Jobs } from '@tenon/jobs'
import type { Session } from '@tenon/session'
import type { Shell, ShellExecution } from '@tenon/shell'

/** A command as a job, in the fewest words that do. */
export async function startCommand(jobs: Jobs, shell: Shell, owner: Session, command: string): Promise<{ id: JobId; execution: ShellExecution }> {
  const execution = await shell.execute(shell.resolve({ command, workdir: owner.cwd, onExpiry: 'none' }))
  const id = jobs.start({
    kind: 'bash',
    label: command,
    owner,
    attachment: 'detached',
    run({ attach }) {
      attach({ channels: { stdout: execution.observed.stdout, stderr: execution.observed.stderr } })
      const outcome = async () => {
        await execution.done
        const { status, exitCode, signal } = execution
        return status === 'killed'
          ? ({ status, outcome: `signal: ${signal}` } as const)
          : ({ status: 'completed', outcome: `exit code: ${exitCode}` } as const)
      }
      return { cancel: () => void execution.kill(), done: outcome() }
    },
  })
  return { id, execution }
}

/** Resolves once the output of a job matches. */
export async function outputMatches(jobs: Jobs, id: JobId, pattern: RegExp): Promise<string> {
  let seen = ''
  for await (const item of jobs.follow(id, { caller: 'host' })) {
    if (item.type === 'output') seen += item.chunks.map(({ text }) => text).join('')
    if (pattern.test(seen)) return seen
  }
  throw new Error(`the job ended, and its output never matched ${pattern}:\n${seen}`)
}
