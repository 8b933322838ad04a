import { readdir, readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import jobsPlugin from '@tenon/plugin-jobs'
import { SystemPrompt } from '@tenon/system-prompt'
import { afterEach, describe, expect, it } from 'vitest'
import { type Composition, compose, plugin } from './composition.ts'
import { ScriptedShell } from './scripted-shell.ts'

const NAMES = ['bash', 'pwsh'] as const
const shell = new ScriptedShell((run) => run.end())
let app: Composition
afterEach(() => app[Symbol.asyncDispose]())

const BASE = {
  bash: 'Run a bash command in a fresh, non-interactive shell and return its output. Nothing carries over between calls except files; standard input is empty.',
  pwsh: 'Run a PowerShell command in a fresh, non-interactive process and return its output. Nothing carries over between calls except files; standard input is empty.',
}
const BACKGROUND = ' Set run_in_background for servers and long work: the call returns a job id at once.'
const PROMOTION = ' A command still running after timeoutMs is not stopped; it continues as a background job, and the result gives its id.'
const schema = (timeoutMs: string, background: boolean) => ({
  $schema: 'https://json-schema.org/draft/2020-12/schema',
  type: 'object',
  properties: {
    command: { type: 'string', description: 'The command to run.' },
    description: { type: 'string', description: 'What the command does, in 5 to 10 words, for the person watching.' },
    timeoutMs: { type: 'number', exclusiveMinimum: 0, description: timeoutMs },
    workdir: { type: 'string', description: "Directory to run in; a relative path starts at the session's directory." },
    ...(background ? { run_in_background: { type: 'boolean', description: 'Return a job id at once instead of waiting.' } } : {}),
  },
  required: ['command', 'description'],
  additionalProperties: false,
})
const STOPS = 'Stop the command after this many milliseconds.'
const WAITS = 'Wait this many milliseconds; a command still running then continues as a background job. Does not apply with run_in_background.'
const SECTION = {
  bash: 'A bash command that failed ends with [exit code: N] or [killed by signal: NAME]; no such marker means exit code 0, for a pipeline that of its last command. [timed out after Nms] and [stopped: REASON] mean it was cut off, whatever the exit code. Use workdir, not cd in an earlier call.',
  pwsh: 'A PowerShell command that failed ends with [exit code: N] or [killed by signal: NAME]; no such marker means exit code 0. [timed out after Nms] and [stopped: REASON] mean it was cut off, whatever the exit code. On Windows a stopped command looks like a plain [exit code: 1]. Use workdir, not Set-Location in an earlier call.',
}

/** Lets what is due be announced. */
async function turns(): Promise<void> {
  for (let turn = 0; turn < 3; turn++) await new Promise((resolve) => setImmediate(resolve))
}

describe.each(NAMES)('%s, variants', (tool) => {
  it('TB-07 the base: description, schema and section, verbatim', async () => {
    app = await compose({ tool, shell })
    expect(app.view?.description).toBe(BASE[tool])
    expect(app.view?.inputSchema).toEqual(schema(STOPS, false))
    expect((await app.kernel.get(SystemPrompt)?.assemble(app.session))?.text).toBe(SECTION[tool])
  })

  it('TB-07 job-backed, verbatim', async () => {
    app = await compose({ tool, shell, jobs: {} })
    expect(app.view?.description).toBe(BASE[tool] + BACKGROUND + PROMOTION)
    expect(app.view?.inputSchema).toEqual(schema(WAITS, true))
    expect((await app.kernel.get(SystemPrompt)?.assemble(app.session))?.text).toBe(SECTION[tool])
  })

  it('TB-07 job-backed without promotion, verbatim', async () => {
    app = await compose({ tool, shell, jobs: {}, config: { promoteOnTimeout: false } })
    expect(app.view?.description).toBe(BASE[tool] + BACKGROUND)
    expect(app.view?.inputSchema).toEqual(schema(`${STOPS} Does not apply with run_in_background.`, true))
  })

  it('TB-07 each variant publishes what it can return: the base one shape, the others three', async () => {
    app = await compose({ tool, shell })
    expect(app.view?.outputSchema).toMatchObject({ type: 'object', additionalProperties: false, properties: { kind: { const: 'foreground' } } })
    await app[Symbol.asyncDispose]()
    app = await compose({ tool, shell, jobs: {} })
    expect(app.view?.outputSchema).toMatchObject({ type: 'object' })
    const published = app.view?.outputSchema as unknown as { oneOf: { properties: { kind: { const: string } } }[] } | undefined
    expect(published?.oneOf.map(({ properties }) => properties.kind.const)).toEqual(['background', 'promoted', 'foreground'])
  })

  it('TB-08 a registry that loads later flips the schema once it has a controller, unloading either flips it back, and the tool is never absent', async () => {
    app = await compose({ tool, shell })
    const base = app.view
    await turns()
    const changes: unknown[] = []
    app.tools.changed.on(app.kernel.scope, ({ added, removed, replaced }) => {
      changes.push({ added, removed, replaced })
    })
    let absent = 0
    let going = true
    const reader = (async () => {
      for (; going; await new Promise((resolve) => setImmediate(resolve))) if (app.view === undefined) absent++
    })()
    const row = app.kernel.load(plugin(jobsPlugin))
    await row.ready()
    await app.kernel.settled()
    // A registry whose jobs no model could read or stop starts none, so none are promised.
    expect(app.view).toEqual(base)
    const controller = app.kernel.scope.child('controller')
    app.jobs.attachController(controller, { name: 'first' })
    expect(app.view?.inputSchema).toEqual(schema(WAITS, true))
    await turns()
    await controller.close()
    expect(app.view).toEqual(base)
    await turns()
    app.jobs.attachController(app.kernel.scope, { name: 'second' })
    expect(app.view?.inputSchema).toEqual(schema(WAITS, true))
    await turns()
    await row.unload()
    await app.kernel.settled()
    expect(app.view).toEqual(base)
    await turns()
    going = false
    await reader
    expect(absent).toBe(0)
    expect(changes).toEqual(Array(4).fill({ added: [], removed: [], replaced: [tool] }))
  })

  it('TB-08 unloading the plugin under a registry removes the tool and logs nothing', async () => {
    app = await compose({ tool, shell, jobs: {} })
    await app.kernel.row(`tool-${tool}`)?.unload()
    await app.kernel.settled()
    expect(app.view).toBeUndefined()
    expect((await app.kernel.get(SystemPrompt)?.assemble(app.session))?.text).toBe('')
    expect(app.warnings).toEqual([])
  })

  it('TB-09 with the switch off a registry changes nothing; the plugin waits for shell, never for jobs', async () => {
    app = await compose({ tool, shell, jobs: {}, config: { enableRunInBackground: false } })
    expect(app.view?.inputSchema).toEqual(schema(STOPS, false))
    expect(app.view?.description).toBe(BASE[tool])
    await app.kernel.row('scripted-shell')?.unload()
    await app.kernel.settled()
    const cause = app.kernel.explain(`tool-${tool}`)
    expect(app.view).toBeUndefined()
    expect(JSON.stringify(cause)).toContain('shell')
    expect(JSON.stringify(cause)).not.toContain('jobs')
  })
})

describe('the plugins', () => {
  it('TB-29 a plugin is one file of at most 80 lines, and every string a model reads is in text.ts', async () => {
    app = await compose({ tool: 'pwsh', shell })
    for (const name of ['tool-bash', 'tool-pwsh']) {
      const folder = fileURLToPath(new URL(`../../plugins/${name}/src/`, import.meta.url))
      expect(await readdir(folder)).toEqual(['index.ts'])
      expect((await readFile(`${folder}index.ts`, 'utf8')).split('\n').length).toBeLessThanOrEqual(80)
    }

    const library = fileURLToPath(new URL('../../packages/shell-tool/src/', import.meta.url))
    const words = [
      BASE.bash,
      BASE.pwsh,
      SECTION.bash,
      SECTION.pwsh,
      BACKGROUND,
      PROMOTION,
      STOPS,
      WAITS,
      'The command to run.',
      'run_in_background is disabled',
    ]
    for (const name of await readdir(library)) {
      const source = await readFile(`${library}${name}`, 'utf8')
      const found = words.filter((word) => source.replaceAll("\\'", "'").includes(word))
      expect([name, found]).toEqual([name, name === 'text.ts' ? words : []])
    }
  })
})
