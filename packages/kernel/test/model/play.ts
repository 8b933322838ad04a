import { isDeepStrictEqual } from 'node:util'
import { Kernel, type KernelOptions, type Transaction } from '@tenon/kernel'
import { quiet } from '../quiet.ts'
import { bootOutcome } from './boot.ts'
import { Desired, type Wanted } from './desired.ts'
import { expectGiven, expectOutcome, type Outcome, outcomeOf } from './outcome.ts'
import { Restarts } from './restarts.ts'
import { type Config, type Edit, type RowShape, SABOTEUR, type Scenario, type Step } from './scenario.ts'
import { Schedule, turn } from './schedule.ts'
import { Stage } from './stage.ts'
import { describeStep } from './story.ts'

/** A broken promise, with the whole story: what was asked, and what happened. */
export class Disagreement extends Error {
  constructor(what: string, log: readonly string[]) {
    super(`${what}\n\n${log.join('\n')}\n`)
    this.name = 'Disagreement'
  }
}

const REFUSALS = new Set(['ACTIVATION_FAILED', 'PLUGIN_UNRESOLVED', 'PLUGIN_LOADED_TWICE', 'CAPABILITY_TAKEN', 'ROLLED_BACK', 'KERNEL_CLOSED'])

/** Plays a scenario against a kernel of its own, and throws a Disagreement where kernel and model part. */
export async function play(scenario: Scenario, options: KernelOptions = quiet): Promise<void> {
  await new Play(scenario, options).run()
}

class Play {
  readonly #scenario: Scenario
  readonly #options: KernelOptions
  readonly #log: string[] = []
  readonly #kernel: Kernel
  readonly #schedule: Schedule
  readonly #stage: Stage
  readonly #desired = new Desired()
  readonly #restarts = new Restarts()
  readonly #pending = new Set<string>()
  #asked = 0
  /** Commands since nothing moved, to tell an edit that had the kernel for itself. */
  #commands = 0
  #transactions = 0
  /** Rows of the transaction under way, and whether it may be being taken back already: it does not say so before the end. */
  readonly #touched = new Set<string>()
  #isAtRisk = false

  constructor(scenario: Scenario, options: KernelOptions) {
    this.#scenario = scenario
    this.#options = options
    this.#kernel = new Kernel(options)
    this.#schedule = new Schedule(scenario.order, this.#log)
    this.#stage = new Stage(this.#kernel, this.#schedule, this.#log, (row) => this.#leave(row))
    this.#kernel.events.on(this.#kernel.scope, (event) => {
      if (event.type !== 'phase') return
      this.#log.push(`    ${event.row} ${event.phase}`)
      if (event.phase === 'active') this.#stage.activated(event.row)
      if (event.phase === 'failed' && this.#touched.size > 0) this.#isAtRisk = true
    })
  }

  async run(): Promise<void> {
    const { boot, steps } = this.#scenario
    for (const { row, ...load } of boot) {
      const shape = this.#scenario.rows[row]
      if (shape !== undefined) this.#command(shape, { do: 'load', row, ...load })
    }
    for (const step of steps) {
      if (step.do === 'tick') await this.#turn()
      else if (step.do === 'open') {
        this.#schedule.open(step.gate)
        await this.#turn()
      } else if (step.do === 'settle') await this.#settle()
      else this.#step(step)
    }
    await this.#settle()
    if (!this.#scenario.contested) await this.#compareWithFreshBoot()
    await this.#close()
  }

  async #turn(): Promise<void> {
    await turn()
    this.#restarts.turn()
    this.#stage.look()
    this.#assertKept()
  }

  async #settle(): Promise<void> {
    this.#log.push('settle')
    await this.#turn()
    while (!this.#schedule.isEmpty) {
      this.#schedule.openNext()
      await this.#turn()
    }
    if (!this.#kernel.inspect().settled) this.#disagree('nothing waits for the schedule, and the kernel is not settled')
    if (this.#pending.size > 0) this.#disagree(`never answered: ${[...this.#pending].join(', ')}`)
    this.#stage.lookAtRest()
    this.#assertKept()
    this.#compareWithModel()
    const active = this.#desired.rows.filter(({ shape }) => this.#kernel.row(shape.id)?.phase === 'active')
    this.#stage.keepsakes.lookAtRest(active, this.#restarts.edits)
    this.#assertKept()
    const restarted = this.#restarts.look(this.#stage.instances, this.#desired, this.#scenario.contested)
    if (restarted !== undefined) this.#disagree(restarted)
    await this.#assertAnswered()
    this.#commands = 0
  }

  /** At rest everybody who asks for a row is told at once: that it is active, or why it is not. */
  async #assertAnswered(): Promise<void> {
    const answers = new Map<string, string>()
    for (const { shape } of this.#desired.rows) {
      const { id } = shape
      this.#kernel
        .row(id)
        ?.ready()
        .then(
          () => answers.set(id, 'active'),
          (error: { code?: string }) => answers.set(id, error.code === 'PLUGIN_UNRESOLVED' ? 'waiting' : 'failed'),
        )
    }
    await turn()
    const phases = new Map(this.#kernel.inspect().rows.map(({ id, phase }) => [id, phase]))
    for (const [id, phase] of phases)
      if (answers.get(id) !== phase) this.#disagree(`${id} is ${phase}, and \`ready\` says ${answers.get(id) ?? 'nothing'}`)
  }

  #compareWithModel(): void {
    const actual = outcomeOf(this.#kernel.inspect())
    const composition = this.#desired.rows
    this.#assertEqual('what each row has to be, given the others', actual, expectGiven(composition, actual))
    if (!this.#scenario.contested) this.#assertEqual('the model', actual, expectOutcome(composition))
  }

  async #compareWithFreshBoot(): Promise<void> {
    const fresh = await bootOutcome(this.#desired.rows, [], this.#options)
    this.#assertEqual('a fresh boot of the same composition', outcomeOf(this.#kernel.inspect()), fresh)
  }

  async #close(): Promise<void> {
    this.#log.push('close')
    this.#ask('close', this.#kernel.close())
    await this.#turn()
    while (!this.#schedule.isEmpty) {
      this.#schedule.openNext()
      await this.#turn()
    }
    if (this.#pending.size > 0) this.#disagree(`never answered: ${[...this.#pending].join(', ')}`)
    this.#stage.lookAtEnd()
    this.#assertKept()
  }

  #step(step: Exclude<Step, { do: 'tick' | 'open' | 'settle' }>): void {
    if (step.do === 'transaction') {
      this.#transaction(step.edits, step.sabotaged)
      return
    }
    const shape = this.#subject(step)
    if (shape === undefined) return
    if (step.do === 'replace') this.#transaction([step], false)
    else if (!this.#isAtRisk || !this.#touched.has(shape.id)) this.#command(shape, step)
  }

  #command(shape: RowShape, step: Exclude<Step, { do: 'tick' | 'open' | 'settle' | 'transaction' | 'replace' }>): void {
    const { id } = shape
    this.#log.push(describeStep(step, id))
    this.#commands++
    if (step.do !== 'ready') this.#restarts.command(false)
    if (step.do === 'load') {
      this.#load(shape, step)
      return
    }
    const row = this.#kernel.row(id)
    if (row === undefined) this.#disagree(`${id} is wanted, and the kernel has no such row`)
    if (step.do === 'ready') this.#ask(`ready ${id}`, row.ready())
    else if (step.do === 'reconfigure') {
      if (!this.#reconfigure(id, step.config)) this.#desired.confirm(id)
      this.#ask(`reconfigure ${id}`, row.reconfigure(step.config))
    } else {
      this.#desired.unload(id)
      this.#ask(`unload ${id}`, row.unload())
      if (step.do === 'flap') this.#load(shape, step)
    }
  }

  #load(shape: RowShape, { code, config }: { readonly code: 0 | 1; readonly config: Config }): void {
    try {
      this.#kernel.load(this.#stage.pluginOf(shape, shape.codes[code]), config, { id: shape.id, optional: shape.optional })
      this.#desired.load(shape, { code: shape.codes[code], config })
    } catch (error) {
      // The transaction under way may have to give the id back.
      if ((error as { code?: string }).code !== 'PLUGIN_LOADED_TWICE' || this.#transactions === 0) throw error
      this.#log.push('  (a transaction holds the id)')
    }
  }

  /** Gives back whether the config is another one. */
  #reconfigure(id: string, config: Config): boolean {
    const wish = this.#desired.get(id)?.wish
    if (wish === undefined || isDeepStrictEqual(wish.config, config)) return false
    this.#desired.set(id, { code: wish.code, config })
    return true
  }

  /** A row leaves by itself: a command like any other. */
  #leave(id: string): boolean {
    if (this.#transactions > 0 && this.#touched.has(id)) return false
    this.#log.push(`  ${id} leaves`)
    this.#desired.unload(id)
    this.#commands++
    this.#restarts.command(true)
    return true
  }

  #subject(step: { readonly do: string; readonly row: number; readonly meddles?: boolean }): RowShape | undefined {
    const able = this.#scenario.rows.filter(({ id }) => (this.#desired.get(id) === undefined) === (step.do === 'load'))
    const touched = step.meddles === true ? able.filter(({ id }) => this.#touched.has(id)) : []
    const candidates = touched.length > 0 ? touched : able
    return candidates[step.row % candidates.length]
  }

  #transaction(edits: readonly Edit[], sabotaged: boolean): void {
    const isAlone = this.#commands === 0 && this.#kernel.inspect().settled && !this.#scenario.contested
    const before = this.#expectedPhases()
    const required = new Set<Wanted>()
    let draft: { takeBack(): void } | undefined
    let expected: 'committed' | 'rolled-back' = 'committed'
    const edit = (tx: Transaction): void => {
      draft = this.#desired.draft(() => {
        for (const one of edits) {
          const wanted = this.#edit(tx, one, before)
          if (wanted !== undefined) required.add(wanted)
        }
        if (!sabotaged) return
        const { id, codes } = SABOTEUR
        const config = { n: 0, version: 1 }
        tx.load(this.#stage.pluginOf(SABOTEUR, codes[0]), config, { id })
        this.#desired.load(SABOTEUR, { code: codes[0], config })
        const saboteur = this.#desired.get(id)
        if (saboteur !== undefined) required.add(saboteur)
      })
      for (const [wanted, phase] of this.#expectedPhases()) {
        if (phase === 'failed' && (required.has(wanted) || before.get(wanted) === 'active')) expected = 'rolled-back'
      }
    }
    this.#transactions++
    this.#commands++
    this.#restarts.command(true)
    const name = `transaction ${++this.#asked}`
    this.#log.push(name)
    const answer = (outcome: string): void => {
      this.#transactions--
      this.#log.push(`  = ${name} ${outcome}`)
      this.#touched.clear()
      this.#isAtRisk = false
      if (outcome !== 'committed') {
        draft?.takeBack()
        this.#restarts.takenBack()
      }
      if (isAlone && this.#commands === 1 && outcome !== 'refused' && outcome !== expected) this.#disagree(`${name} was ${outcome}, not ${expected}`)
    }
    const refused = (error: { code?: string }): void => {
      answer('refused')
      throw error
    }
    this.#ask(
      name,
      this.#kernel.transaction(edit).then(({ outcome }) => answer(outcome), refused),
    )
  }

  /** Makes the edit on both sides; gives back the row that has to come up for it. */
  #edit(tx: Transaction, edit: Edit, before: ReadonlyMap<Wanted, string>): Wanted | undefined {
    const shape = this.#subject(edit)
    if (shape === undefined) return undefined
    const { id } = shape
    this.#log.push(`  . ${describeStep(edit, id)}`)
    const wanted = this.#desired.get(id)
    this.#touched.add(id)
    switch (edit.do) {
      case 'unload':
        tx.unload(id)
        this.#desired.unload(id)
        return undefined
      case 'reconfigure':
        tx.reconfigure(id, edit.config)
        // An equal config tries a failed row again.
        return this.#reconfigure(id, edit.config) || (wanted !== undefined && before.get(wanted) === 'failed') ? wanted : undefined
      case 'replace':
        tx.replace(id, this.#stage.pluginOf(shape, shape.codes[edit.code]), edit.config)
        this.#desired.set(id, { code: shape.codes[edit.code], config: edit.config })
        return wanted
      case 'load':
        tx.load(this.#stage.pluginOf(shape, shape.codes[edit.code]), edit.config, { id, optional: shape.optional })
        this.#desired.load(shape, { code: shape.codes[edit.code], config: edit.config })
        return shape.optional ? undefined : this.#desired.get(id)
      default:
        return edit satisfies never
    }
  }

  /** What the model expects of each wanted row; nothing where capabilities are contested. */
  #expectedPhases(): Map<Wanted, string> {
    if (this.#scenario.contested) return new Map()
    const { rows } = this.#desired
    const { rows: expected } = expectOutcome(rows)
    return new Map(rows.map((wanted, index) => [wanted, expected[index]?.phase ?? '']))
  }

  #ask(what: string, promise: Promise<unknown>): void {
    const name = `${++this.#asked}: ${what}`
    this.#pending.add(name)
    promise.then(
      () => this.#pending.delete(name),
      (error: { code?: string }) => {
        this.#pending.delete(name)
        if (error instanceof Disagreement || !REFUSALS.has(error.code ?? ''))
          this.#stage.violations.push(`${what} was answered with ${String(error)}`)
      },
    )
  }

  #assertKept(): void {
    const [violation] = this.#stage.violations
    if (violation !== undefined) this.#disagree(violation)
  }

  #assertEqual(what: string, actual: Outcome, expected: Outcome): void {
    if (isDeepStrictEqual(actual, expected)) return
    const differing = expected.rows.filter((row, index) => !isDeepStrictEqual(row, actual.rows[index]))
    const shown = differing.map(
      (row) => `  expected ${JSON.stringify(row)}\n  actual   ${JSON.stringify(actual.rows.find(({ id }) => id === row.id))}`,
    )
    const provisions = `  provisions: expected ${JSON.stringify(expected.provisions)}, actual ${JSON.stringify(actual.provisions)}`
    this.#disagree([`the kernel is not as ${what}:`, ...shown, provisions, `  rows: ${actual.rows.map(({ id }) => id).join(' ')}`].join('\n'))
  }

  #disagree(what: string): never {
    throw new Disagreement(what, this.#log)
  }
}
