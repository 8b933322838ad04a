import { existsSync, readFileSync } from 'node:fs'
import { setTimeout as later } from 'node:timers/promises'
import type { Jobs } from '@tenon/jobs'
import { ShellError } from '@tenon/shell'
import { afterEach, describe, expect, it } from 'vitest'
import { type Composition, compose, delivered, shown, told, until } from './composition.ts'
import { type ScriptedExecution, ScriptedShell, spawnFailure } from './scripted-shell.ts'

let app: Composition
let jobs: Jobs
afterEach(() => app[Symbol.asyncDispose]())

const PROMOTED = (output: string, ms: number, id: string) =>
  `${output}[still running after ${ms}ms; moved to background job ${id}]\nIt keeps running and you are notified when it ends. Read newer output with job_output, stop it with job_kill.`

/** Starts of `bash` are real; those of `pwsh` are played by `script`. */
async function open(
  tool: 'bash' | 'pwsh',
  script: (run: ScriptedExecution) => void = (run) => run.end(),
  { config = {}, limits = {} }: { config?: object; limits?: Readonly<Record<string, number>> } = {},
): Promise<ScriptedShell> {
  const shell = new ScriptedShell(script)
  app = await compose({ tool, jobs: limits, config, ...(tool === 'pwsh' ? { shell } : {}) })
  jobs = app.jobs
  return shell
}
/** Of commands that have said something by then, also on a machine with much to do. */
const BOUND_MS = 1_500
const id = (tool: string) => `${tool}-1`

describe.each(['bash', 'pwsh'] as const)('%s, commands as jobs', (tool) => {
  it('TB-10 a long command is listed meanwhile, then promoted with its early output; the next read repeats nothing', async () => {
    await open(tool, (run) => run.stdout.write('early'))
    const call = app.run('printf early; sleep 30', { timeoutMs: BOUND_MS })
    const [job] = await until(() => jobs.list('host').length === 1 && jobs.list('host'))
    expect(job).toMatchObject({
      id: id(tool),
      kind: tool,
      label: 'printf early; sleep 30',
      attachment: 'foreground',
      detail: { command: 'printf early; sleep 30' },
    })
    const result = await call
    expect(delivered(result)).toEqual({ kind: 'promoted', jobId: id(tool), timeoutMs: BOUND_MS, output: 'early\n' })
    expect(shown(result)).toBe(PROMOTED('early\n', BOUND_MS, id(tool)))
    expect(jobs.read(id(tool), app.session).chunks).toEqual([])
    expect(jobs.get(id(tool), 'host')).toMatchObject({ attachment: 'detached', status: 'running' })
    jobs.kill(id(tool), 'host', { by: 'host', text: 'test is over' })
    await jobs.wait(id(tool), 5_000, 'host')
  })

  it('TB-12 a fast command gives the foreground value: registered, settled awaited, removed; nothing is left', async () => {
    await open(tool, (run) => {
      run.stdout.write('hi\n')
      run.end({ exitCode: 3 })
    })
    const result = await app.run('echo hi; exit 3')
    expect(shown(result)).toBe('hi\n[exit code: 3]')
    expect(app.story).toEqual(['registered', 'settled awaited', 'removed'])
    expect(app.events[1]).toMatchObject({ job: { status: 'completed', detail: { outcome: 'exit code: 3' }, notice: 'withheld' } })
    expect(jobs.list('host')).toEqual([])
  })

  it('TB-14 a stop from outside puts its reason before the signal marker, and on the value', async () => {
    await open(tool, () => undefined)
    const call = app.run('sleep 30')
    await until(() => Object.keys(jobs.list('host')[0]?.output ?? {}).length > 0)
    jobs.kill(id(tool), app.session, { by: 'model', text: 'not needed any more' })
    const result = await call
    expect(shown(result)).toBe('(no output)\n[stopped: not needed any more]\n[killed by signal: SIGTERM]')
    expect(delivered(result)).toMatchObject({ kind: 'foreground', stopped: 'not needed any more', signal: 'SIGTERM', timedOut: false })
    expect(app.story).toEqual(['registered', 'stopping', 'settled awaited', 'removed'])
  })

  it('TB-15 cancelling kills the job, keeps the tail of the output for hosts, and leaves no record', async () => {
    await open(tool, (run) => {
      run.stdout.write('some output\n')
      run.stderr.write('some error\n')
    })
    const controller = new AbortController()
    const call = app.run('echo some output; echo some error >&2; sleep 30', {}, { signal: controller.signal })
    await until(() => jobs.list('host')[0]?.output.stderr?.size)
    controller.abort()
    const result = await call
    expect(shown(result)).toBe('Error: tool call aborted')
    expect(result).toMatchObject({
      code: 'TOOL_ABORTED',
      details: { output: 'some output\n[stderr]\nsome error\n', status: 'killed', exitCode: null, signal: 'SIGTERM' },
    })
    expect(app.events.find(({ type }) => type === 'stopping')).toMatchObject({ job: { stop: { by: 'call', text: 'tool call aborted' } } })
    expect(app.events.find(({ type }) => type === 'settled')).toMatchObject({ job: { status: 'killed', notice: 'withheld' } })
    expect(jobs.list('host')).toEqual([])
  })

  it('TB-16 cancelling a command that traps TERM returns soon; its record ends by itself, detached', async () => {
    await open(tool, (run) => {
      run.stdout.write('trapped\n')
      run.stops = () => undefined
      setTimeout(() => run.end({ signal: 'SIGKILL' }), 1_500)
    })
    const controller = new AbortController()
    const call = app.run(`trap '' TERM; echo trapped; while :; do sleep 0.05; done`, {}, { signal: controller.signal })
    await until(() => jobs.list('host')[0]?.output.stdout?.size)
    const since = performance.now()
    controller.abort()
    expect(await call).toMatchObject({ code: 'TOOL_ABORTED', details: { status: 'running' } })
    expect(performance.now() - since).toBeLessThan(1_500)
    expect(jobs.list('host')).toMatchObject([{ attachment: 'detached', status: 'stopping' }])
    await jobs.wait(id(tool), 10_000, 'host')
    expect(jobs.get(id(tool), 'host')).toMatchObject({ status: 'killed', detail: { outcome: 'signal: SIGKILL; tool call aborted' } })
  })

  it('TB-22 background: the id at once, readable, stoppable, owned by the caller; a given timeoutMs adds its line', async () => {
    await open(tool, (run) => run.stdout.write('up\n'))
    const result = await app.run('echo up; sleep 30', { run_in_background: true, timeoutMs: 50 })
    expect(shown(result)).toBe(`started background job ${id(tool)}\n[timeoutMs does not apply to a background job]`)
    expect(delivered(result)).toEqual({ kind: 'background', jobId: id(tool), timeoutIgnored: true })
    await until(() => jobs.get(id(tool), app.session).output.stdout?.size)
    await later(100)
    expect(jobs.get(id(tool), app.session)).toMatchObject({ status: 'running', attachment: 'detached', owner: 'one' })
    expect(jobs.read(id(tool), app.session).chunks).toMatchObject([{ channel: 'stdout', text: 'up\n' }])
    jobs.kill(id(tool), app.session, { by: 'model', text: 'stopped with job_kill' })
    const { job } = await jobs.wait(id(tool), 10_000, app.session)
    expect(job).toMatchObject({ status: 'killed', detail: { outcome: 'signal: SIGTERM; stopped with job_kill' } })
    const plain = await app.run('true', { run_in_background: true })
    expect(shown(plain)).toBe(`started background job ${tool}-2`)
  })

  it('TB-23 a person promotes a waiting call: the promoted value at once, with the time waited', async () => {
    await open(tool, (run) => run.stdout.write('so far'))
    const call = app.run('printf "so far"; sleep 30', { timeoutMs: 60_000 })
    await until(() => jobs.list('host')[0]?.output.stdout?.size)
    jobs.promote(id(tool), 'host')
    const value = delivered(await call)
    expect(value).toMatchObject({ kind: 'promoted', output: 'so far\n' })
    expect((value as { timeoutMs: number }).timeoutMs).toBeLessThan(30_000)
    jobs.kill(id(tool), 'host', { by: 'host', text: 'test is over' })
    await jobs.wait(id(tool), 5_000, 'host')
  })

  it('TB-25 outcomes of jobs: exit code, signal, a trapped TERM after a kill, a failure of the infrastructure', async () => {
    const facts: object[] = []
    const outcomeOf = async (command: string, kill = false): Promise<string> => {
      const value = delivered(await app.run(command, { run_in_background: true })) as { jobId: string }
      if (kill) {
        await until(() => jobs.get(value.jobId, 'host').output.stdout?.size)
        jobs.kill(value.jobId, 'host', { by: 'human', text: 'enough' })
      }
      const { job } = await jobs.wait(value.jobId, 10_000, 'host')
      const { outcome, exitCode, signal } = job.detail
      facts.push({ exitCode, signal })
      return `${job.status}, ${outcome}`
    }
    const shell = await open(tool)
    const scripts: Record<string, (run: ScriptedExecution) => void> = {
      'exit 7': (run) => run.end({ exitCode: 7 }),
      'kill -9 $$': (run) => run.end({ signal: 'SIGKILL' }),
      trapped: (run) => {
        run.stdout.write('ready\n')
        run.stops = () => run.end({ exitCode: 0 })
      },
    }
    const trapped = tool === 'bash' ? `trap 'exit 0' TERM; echo ready; while :; do sleep 0.05; done` : 'trapped'
    shell.script = (run, spec) => scripts[spec.command]?.(run)
    expect(await outcomeOf('exit 7')).toBe('completed, exit code: 7')
    expect(await outcomeOf('kill -9 $$')).toBe('killed, signal: SIGKILL')
    expect(await outcomeOf(trapped, true)).toBe('killed, killed before exit; enough')
    expect(facts).toEqual([{ exitCode: 7 }, { signal: 'SIGKILL' }, { exitCode: 0 }])
    if (tool === 'bash') return
    shell.script = (run) => run.end({ exitCode: null })
    expect(await outcomeOf('no code')).toBe('completed, exit code: 0')
    shell.script = (run) => run.end({ failure: spawnFailure() })
    expect(await outcomeOf('no process')).toBe('failed, spawn failed: EAGAIN')
    shell.options = { failure: () => new ShellError('SHELL_MISSING', 'no shell') }
    expect(await outcomeOf('no shell')).toBe('failed, no shell')
    expect(facts.slice(3)).toEqual([{ exitCode: 0 }, {}, {}])
  })
})

describe('one registry, several endings', () => {
  it('TB-15 cancelling ends the whole tree, whatever the command started', async () => {
    await open('bash')
    const controller = new AbortController()
    const call = app.run('sleep 300 & echo $!; (sleep 301 & echo $!; wait) & wait', {}, { signal: controller.signal })
    const pids = await until(() => {
      const { chunks } = jobs.list('host').length === 1 ? jobs.readAt('bash-1', {}, 'host') : { chunks: [] }
      const found = chunks
        .map(({ text }) => text)
        .join('')
        .trim()
        .split('\n')
      return found.length === 2 && found.map(Number)
    })
    const alive = () => pids.filter((pid) => existsSync(`/proc/${pid}/cmdline`) && readFileSync(`/proc/${pid}/cmdline`, 'utf8').startsWith('sleep'))
    // A child has its id before it is `sleep`.
    await until(() => alive().length === pids.length)
    controller.abort()
    expect(await call).toMatchObject({ code: 'TOOL_ABORTED' })
    await until(() => alive().length === 0)
  })

  it('TB-13 calls that end at about their bound are either foreground without a record, or promoted with one that settles', async () => {
    await open('pwsh', (run) => setTimeout(() => run.end(), 20))
    let promoted = 0
    for (let n = 0; n < 300; n++) {
      const value = delivered(await app.run('x', { timeoutMs: 20 }))
      const records = jobs.list('host')
      if (value.kind === 'foreground') expect(records).toEqual([])
      else {
        promoted++
        expect(records).toMatchObject([{ id: (value as { jobId: string }).jobId, attachment: 'detached' }])
        const { outcome } = await jobs.wait(records[0]?.id ?? '', 5_000, 'host')
        expect(outcome).toBe('settled')
        jobs.remove(records[0]?.id ?? '', 'host')
      }
    }
    expect(promoted).toBeLessThan(300)
  })

  it('TB-17 a failed start is an error with its code and leaves no record; in the background a failed job names the cause', async () => {
    await open('bash')
    expect(told(await app.run('true', { workdir: '/no/such/place' }))).toMatch(/^SHELL_BAD_CWD: .*\/no\/such\/place/)
    expect(jobs.list('host')).toEqual([])
    await app.run('true', { workdir: '/no/such/place', run_in_background: true })
    const { job } = await jobs.wait('bash-2', 5_000, 'host')
    expect(job).toMatchObject({ status: 'failed', detail: { outcome: expect.stringContaining('/no/such/place') } })
  })

  it('TB-25 a command that is stopped before it runs was killed before exit', async () => {
    const shell = await open('pwsh')
    shell.options = { prepare: () => new Promise(() => undefined) }
    const value = delivered(await app.run('x', { run_in_background: true })) as { jobId: string }
    jobs.kill(value.jobId, 'host', { by: 'human', text: 'enough' })
    const { job } = await jobs.wait(value.jobId, 5_000, 'host')
    expect(job).toMatchObject({ status: 'killed', detail: { outcome: 'killed before exit; enough' } })
    expect(shell.executions).toEqual([])
  })

  it('TB-13 a command that ends right after its promotion keeps its record: the model was told its id', async () => {
    const shell = await open('pwsh', () => undefined)
    jobs.subscribe(app.kernel.scope, 'all', ({ type }) => {
      if (type === 'detached') queueMicrotask(() => shell.executions[0]?.end({ exitCode: 9 }))
    })
    expect(delivered(await app.run('x', { timeoutMs: 30 }))).toMatchObject({ kind: 'promoted', jobId: 'pwsh-1' })
    const { job } = await jobs.wait('pwsh-1', 5_000, app.session)
    expect(job).toMatchObject({ status: 'completed', detail: { outcome: 'exit code: 9' }, notice: 'due' })
  })

  it('a process whose output cannot be attached is stopped: nobody could see it', async () => {
    const shell = await open('pwsh', (run) => Object.assign(run, { observed: { stdout: {}, stderr: run.observed.stderr } }))
    expect(told(await app.run('x'))).toBe('JOB_SPEC_INVALID: invalid job output.channels.stdout: expected a reader')
    expect([shell.executions[0]?.kills, shell.executions[0]?.status, jobs.list('host')]).toEqual([1, 'killed', []])
  })

  it('a preparation that ends although it was cancelled: its process is stopped', async () => {
    const shell = await open('pwsh', () => undefined)
    let prepared: () => void = () => undefined
    const deaf = new Promise<void>((resolve) => {
      prepared = resolve
    })
    const execute = shell.execute.bind(shell)
    shell.execute = async (spec) => {
      await deaf
      const { signal: _ignored, ...rest } = spec
      return execute(rest)
    }
    const value = delivered(await app.run('x', { run_in_background: true })) as { jobId: string }
    jobs.kill(value.jobId, 'host', { by: 'human', text: 'enough' })
    prepared()
    const { job } = await jobs.wait(value.jobId, 5_000, 'host')
    expect(job).toMatchObject({ status: 'killed', detail: { outcome: 'signal: SIGTERM; enough' } })
    expect(shell.executions[0]?.kills).toBe(1)
  })

  it('TB-21 promoteOnTimeout: false ends the command at its bound, without job events; run_in_background still works', async () => {
    await open('bash', undefined, { config: { promoteOnTimeout: false } })
    expect(shown(await app.run('echo early; sleep 30', { timeoutMs: BOUND_MS }))).toBe(
      `early\n[timed out after ${BOUND_MS}ms]\n[killed by signal: SIGTERM]`,
    )
    expect(app.events).toEqual([])
    expect(shown(await app.run('true', { run_in_background: true }))).toBe('started background job bash-1')
    await jobs.wait('bash-1', 5_000, 'host')
  })

  it('a job that did not stop within its budget is an error with the words of the registry', async () => {
    await open(
      'pwsh',
      (run) => {
        run.stops = () => undefined
      },
      { limits: { stopBudgetMs: 30 } },
    )
    const call = app.run('x')
    const job = await until(() => jobs.list('host')[0])
    jobs.kill(job.id, 'host', { by: 'human', text: 'enough' })
    expect(told(await call)).toMatch(/^TOOL_FAILED: did not stop; work may be orphaned/)
    expect(jobs.list('host')).toEqual([])
  })

  it('unloading the registry under a waiting call: a reasoned result, and the plain tool is back', async () => {
    await open('bash')
    const call = app.run('echo so far; sleep 30')
    await until(() => jobs.list('host')[0]?.output.stdout?.size)
    await app.kernel.row('jobs')?.unload()
    expect(shown(await call)).toBe('so far\n[stopped: job registry closed]\n[killed by signal: SIGTERM]')
    await app.kernel.settled()
    expect(app.view?.inputSchema.properties).not.toHaveProperty('run_in_background')
    expect(shown(await app.run('echo works'))).toBe('works\n')
  })

  it('closing the session under a waiting call ends call and command', async () => {
    const shell = await open('pwsh', () => undefined)
    const call = app.run('x')
    await until(() => shell.executions[0])
    await app.session.scope.close()
    expect(told(await call)).toBe('TOOL_ABORTED: tool call aborted')
    expect(shell.executions[0]?.status).toBe('killed')
    expect(jobs.list('host')).toEqual([])
  })
})
