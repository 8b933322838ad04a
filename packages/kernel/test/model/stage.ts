import { type Capability, capability, definePlugin, type Kernel, type Plugin, type PluginScope } from '@tenon/kernel'
import { z } from 'zod'
import { Keepsakes } from './keepsakes.ts'
import { claimsOf, keyOf } from './outcome.ts'
import { CAPABILITIES, type Config, type ForkShape, type RowShape, type Shape } from './scenario.ts'
import type { Schedule } from './schedule.ts'

/** One run of an `activate` or of a fork's body, as the plugin itself sees it. */
export interface Instance {
  /** Of the row, or of the fork within it: who runs once at a time. */
  readonly path: string
  readonly label: string
  readonly row: string
  readonly branch: 'row' | 'present' | 'otherwise'
  readonly offers: readonly number[]
  readonly bound: readonly Value[]
  readonly parent: Instance | undefined
  readonly config: Config
  readonly dependents: Set<Instance>
  readonly signal: AbortSignal
  /** From the body's start to its return, while it stands, while its undos run, and after them. */
  state: 'running' | 'up' | 'closing' | 'closed'
  undos: { registered: number; ran: number }
}

export interface Value {
  readonly capability: number
  readonly owner: Instance
}

const TOKENS: readonly Capability<Value>[] = Array.from({ length: CAPABILITIES }, (_, index) => capability<Value>(keyOf(index)))
const tokens = (capabilities: readonly number[]): Capability<Value>[] => capabilities.flatMap((one) => TOKENS[one] ?? [])
const configSchema = z.strictObject({ n: z.int(), version: z.int() })

type Scope = PluginScope<Config, Capability<Value>>

/** What a body of a row and one of a fork have in common. */
type Part = Pick<Shape, 'pace' | 'dislikes' | 'offers'> & { readonly forks: readonly ForkShape[] }

/** The plugins of a scenario. They watch each other and write down every promise that is not kept. */
export class Stage {
  readonly instances: Instance[] = []
  readonly keepsakes: Keepsakes
  readonly violations: string[] = []
  readonly #schedule: Schedule
  readonly #log: string[]
  readonly #kernel: Kernel
  readonly #leave: (row: string) => boolean
  readonly #plugins = new Map<Shape, Plugin<Config>>()

  /** @param leave says whether a row that wants to may leave now, and takes note of it. */
  constructor(kernel: Kernel, schedule: Schedule, log: string[], leave: (row: string) => boolean) {
    this.#leave = leave
    this.#kernel = kernel
    this.#schedule = schedule
    this.#log = log
    this.keepsakes = new Keepsakes((violation) => this.#violated(violation))
  }

  pluginOf({ id }: RowShape, code: Shape): Plugin<Config> {
    const known = this.#plugins.get(code)
    if (known !== undefined) return known
    const plugin = definePlugin({
      name: code.name,
      inject: tokens(code.needs),
      provides: tokens(claimsOf(code)),
      config: configSchema,
      activate: (scope, ...values) => this.#activate(id, code, scope as unknown as Scope, values),
    })
    this.#plugins.set(code, plugin)
    return plugin
  }

  /** Looked at after every turn: what can be seen is up, and all that is bound to it as well. */
  look(): void {
    for (const [index, token] of TOKENS.entries()) {
      const value = this.#kernel.get(token)
      if (value === undefined) continue
      if (value.capability !== index || value.owner.state !== 'up')
        this.#violated(`c${index} of ${value.owner.label} is visible while that is ${value.owner.state}`)
    }
  }

  /** Looked at when nothing moves: what lives is up and bound to what is there now. */
  lookAtRest(): void {
    for (const instance of this.instances) {
      if (instance.state === 'closed') continue
      if (instance.state !== 'up') this.#violated(`${instance.label} is still ${instance.state}`)
      for (const value of instance.bound) {
        if (this.#current(value.capability) !== value)
          this.#violated(`${instance.label} is bound to c${value.capability} of ${value.owner.label}, which is not the current one`)
      }
    }
  }

  /** Looked at when a row becomes active. */
  activated(row: string): void {
    const instance = this.instances.findLast((one) => one.row === row && one.branch === 'row')
    if (instance === undefined) return
    for (const value of instance.bound) {
      if (this.#current(value.capability) !== value) this.#violated(`${instance.label} became active on an old c${value.capability}`)
    }
    if (instance.state !== 'up') this.#violated(`${instance.label} became active while it is ${instance.state}`)
  }

  /** Looked at when the kernel has closed. */
  lookAtEnd(): void {
    for (const { label, state, undos } of this.instances) {
      if (state !== 'closed') this.#violated(`${label} ends ${state}`)
      if (undos.registered !== undos.ran) this.#violated(`${label} registered ${undos.registered} undos, of which ${undos.ran} ran`)
    }
    this.keepsakes.lookAtEnd()
  }

  #activate(row: string, code: Shape, scope: Scope, values: readonly Value[]): void | Promise<void> {
    const instance = this.#enter({ row, path: row, branch: 'row', scope, parent: undefined, part: code, needs: code.needs, values })
    if (code.keeps !== 'nothing') {
      const kept = this.keepsakes.keep(scope, instance, code)
      scope.defer(() => this.keepsakes.release(kept))
    }
    return this.#run(instance, scope, code, () => {
      if (code.obedient && scope.signal.aborted) throw scope.signal.reason
      if (instance.config.n === code.leavesOn && !scope.signal.aborted && this.#leave(row)) void scope.close()
      this.#finish(instance, scope, code, instance.config.n === code.failsOn)
    })
  }

  #fork(parent: Instance, scope: Scope, shape: ForkShape, index: number): void {
    const part = { ...shape, forks: shape.inner === undefined ? [] : [shape.inner] }
    const body = (branch: 'present' | 'otherwise', offers: readonly number[], needs: readonly number[], forks: readonly ForkShape[]) => {
      return (fork: Scope, ...values: Value[]): void | Promise<void> => {
        const own = { ...part, offers, forks, dislikes: branch === 'present' ? part.dislikes : undefined }
        const instance = this.#enter({ row: parent.row, path: `${parent.path}.${index}`, branch, scope: fork, parent, part: own, needs, values })
        if (branch === 'otherwise') this.#assertHopeless(instance, shape.needs)
        return this.#run(instance, fork, own, () => this.#finish(instance, fork, own, false))
      }
    }
    const otherwise = shape.otherwise === 'none' ? undefined : body('otherwise', shape.otherwise === 'offers' ? shape.offers : [], [], [])
    scope.inject(tokens(shape.needs), body('present', shape.offers, shape.needs, part.forks), otherwise)
  }

  #run(instance: Instance, scope: Scope, { pace }: Part, finish: () => void): void | Promise<void> {
    instance.undos.registered++
    scope.defer(() => this.#undo(instance, pace.down))
    return pace.up ? this.#schedule.wait(`${instance.label} up`).then(finish) : finish()
  }

  #finish(instance: Instance, scope: Scope, { offers, forks, dislikes }: Part, fails: boolean): void {
    instance.undos.registered++
    scope.defer(() => {
      this.#close(instance)
      instance.undos.ran++
    })
    for (const token of tokens(offers)) scope.provide(token, { capability: TOKENS.indexOf(token), owner: instance })
    for (const [index, fork] of forks.entries()) this.#fork(instance, scope, fork, index)
    if (fails || instance.bound.some(({ owner }) => owner.config.n === dislikes)) throw new Error(`${instance.label} fails as planned`)
    instance.state = 'up'
  }

  #enter(entry: {
    row: string
    path: string
    branch: Instance['branch']
    scope: Scope
    parent: Instance | undefined
    part: Part
    needs: readonly number[]
    values: readonly Value[]
  }): Instance {
    const { row, path, branch, scope, parent, part, needs, values } = entry
    const instance: Instance = {
      ...{ row, path, branch, parent, offers: part.offers, bound: values, config: scope.config, dependents: new Set(), signal: scope.signal },
      label: `${path}${branch === 'otherwise' ? ' otherwise' : ''} #${this.instances.length}`,
      state: 'running',
      undos: { registered: 0, ran: 0 },
    }
    this.#log.push(
      `  + ${instance.label} ${JSON.stringify(scope.config)} ${values.map((value) => `c${value?.capability}=${value?.owner.label}`).join(' ')}`,
    )
    this.#assertAlone(instance)
    if (values.length !== needs.length) this.#violated(`${instance.label} got ${values.length} values for ${needs.length} needs`)
    for (const [index, value] of values.entries()) {
      if (value.capability !== needs[index]) this.#violated(`${instance.label} got c${value.capability} for c${needs[index]}`)
      if (value.owner.state !== 'up' || this.#current(value.capability) !== value)
        this.#violated(`${instance.label} starts on c${value.capability} of ${value.owner.label}, which is ${value.owner.state}`)
      value.owner.dependents.add(instance)
    }
    if (parent !== undefined && parent.state !== 'up') this.#violated(`${instance.label} starts in ${parent.label}, which is ${parent.state}`)
    this.instances.push(instance)
    return instance
  }

  /** A row runs once at a time, and of a fork at most one branch. */
  #assertAlone(instance: Instance): void {
    for (const other of this.instances) {
      if (other.state !== 'closed' && other.path === instance.path) this.#violated(`${instance.label} starts beside ${other.label}`)
    }
  }

  /** Whoever is activating and will offer all that is missing would have been worth the wait. */
  #assertHopeless(instance: Instance, needs: readonly number[]): void {
    const missing = needs.filter((need) => this.#current(need) === undefined)
    if (missing.length === 0) this.#violated(`${instance.label} runs although all it needs is there`)
    const coming = this.instances.filter(({ state, branch, signal }) => state === 'running' && branch === 'row' && !signal.aborted)
    if (missing.length > 0 && missing.every((need) => coming.some(({ offers }) => offers.includes(need)))) {
      this.#violated(`${instance.label} runs although all it needs is coming up`)
    }
  }

  #undo(instance: Instance, slow: boolean): void | Promise<void> {
    this.#close(instance)
    const end = (): void => {
      for (const { owner } of instance.bound) {
        if (owner.state !== 'up') this.#violated(`${instance.label} is still undoing while ${owner.label}, which it uses, is ${owner.state}`)
      }
      instance.undos.ran++
      instance.state = 'closed'
      for (const { owner } of instance.bound) owner.dependents.delete(instance)
      this.#log.push(`  - ${instance.label}`)
    }
    return slow ? this.#schedule.wait(`${instance.label} down`).then(end) : end()
  }

  /** Its first undo begins: all that depends on it has to be over. */
  #close(instance: Instance): void {
    if (instance.state === 'closed') this.#violated(`${instance.label} is undone again`)
    instance.state = 'closing'
    for (const dependent of instance.dependents) this.#violated(`${instance.label} closes before ${dependent.label}, which uses it`)
    for (const other of this.instances) {
      if (other.parent === instance && other.state !== 'closed') this.#violated(`${instance.label} closes before its fork ${other.label}`)
    }
    for (const { owner } of instance.bound) if (owner.state !== 'up') this.#violated(`${instance.label} closes after ${owner.label}, which it uses`)
  }

  #current(index: number): Value | undefined {
    const token = TOKENS[index]
    return token === undefined ? undefined : this.#kernel.get(token)
  }

  #violated(violation: string): void {
    this.violations.push(violation)
    this.#log.push(`  ! ${violation}`)
  }
}
