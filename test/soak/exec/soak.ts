import { type Holdings, holdings, leftBeyond, memory } from './leaks.ts'
import { sceneOf } from './scenes.ts'
import { World } from './world.ts'

export interface Extent {
  readonly commands: number
  readonly minutes: number
  readonly seed: number
  readonly first: number
  readonly concurrency: number
}

/** Faults that are told in full; the rest are counted. */
const TOLD = 50
const CHECKPOINTS = 10
const HUNG_AFTER_MS = 90_000
/** What a heap may differ between two checkpoints for reasons of the engine's own. */
const SLACK_BYTES = 1.5 * 1024 ** 2

/** One soak: commands in parallel, with a look at everything that can leak in between and at the end. */
export class Soak {
  readonly #extent: Extent
  readonly #outcomes = new Map<string, number>()
  readonly #memory: { readonly played: number; readonly heap: number; readonly outside: number }[] = []
  readonly #began = performance.now()
  #faults = 0
  #played = 0
  #next: number
  interrupted = false

  constructor(extent: Extent) {
    this.#extent = extent
    this.#next = extent.first
  }

  interrupt(): void {
    this.interrupted = true
  }

  /** Resolves with the number of faults. */
  async run(): Promise<number> {
    const { commands, minutes, seed, first } = this.#extent
    console.error(`seed ${seed}: ${commands.toLocaleString('en')} commands from number ${first}, at most ${minutes} minutes`)
    process.on('warning', (warning) => this.#fault(`the host warns: ${String(warning)}`))
    const world = await World.open()
    const atFirst = await this.#closed(world)
    await world.remove()
    const soaked = await World.open()
    try {
      await this.#soak(soaked)
    } finally {
      await this.#end(soaked, atFirst)
    }
    this.#summarize()
    return this.#faults
  }

  /** What a world that has run commands leaves behind in the process once: code, caches, handles of Node's own. */
  async #closed(world: World): Promise<Holdings> {
    for (let index = 0; index < 20; index++) await world.nonce()
    await world[Symbol.asyncDispose]()
    return holdings(world, undefined)
  }

  async #soak(world: World): Promise<void> {
    const nonce = await world.nonce()
    // Makes what is made once: the stock, its directory, that of the scripts, the threads of the pool.
    await this.#commands(world, Math.min(200, this.#extent.commands))
    await settle(world)
    const before = holdings(world, nonce)
    const isStray = (what: string): boolean =>
      (what.startsWith('process ') && !what.startsWith(`process ${world.launcher} `)) || what.endsWith('.out') || what.endsWith('.in')
    const stray = [...before.counts.keys()].filter(isStray)
    // What lives on a little is judged by the looks that follow; these here would become the measure.
    for (const what of stray) (before.counts as Map<string, number>).delete(what)
    const each = Math.ceil(this.#extent.commands / CHECKPOINTS)
    while (!this.#isOver()) {
      await this.#commands(world, each)
      await settle(world)
      for (const leak of await leftBeyond(before, world, nonce)) this.#fault(`at rest after ${this.#played} commands: ${leak}`)
      for (const warning of world.warnings.splice(0)) this.#fault(`a row warns: ${warning}`)
      this.#memory.push({ played: this.#played, ...(await memory()) })
      this.#progress()
    }
  }

  async #commands(world: World, count: number): Promise<void> {
    const until = Math.min(this.#next + count, this.#extent.first + this.#extent.commands)
    // On a slow machine a look comes for the time that has passed.
    const enough = performance.now() + (this.#extent.minutes * 60_000) / CHECKPOINTS
    const work = async (): Promise<void> => {
      while (this.#next < until && performance.now() < enough && !this.#isOver()) await this.#play(world, this.#next++)
    }
    await Promise.all(Array.from({ length: this.#extent.concurrency }, work))
  }

  async #play(world: World, index: number): Promise<void> {
    const scene = sceneOf(this.#extent.seed, index)
    const hung = setTimeout(() => this.#hangs(index, scene.what), HUNG_AFTER_MS)
    try {
      const { outcome, faults } = await scene.play(world)
      this.#outcomes.set(outcome, (this.#outcomes.get(outcome) ?? 0) + 1)
      for (const fault of faults) this.#fault(`command ${index}: ${fault}\n    ${scene.what}`)
    } catch (error) {
      this.#fault(`command ${index} threw: ${error instanceof Error ? error.stack : String(error)}\n    ${scene.what}`)
    } finally {
      clearTimeout(hung)
      this.#played++
    }
  }

  /** Nothing that follows could be waited for. What runs is ended with the host. */
  #hangs(index: number, what: string): never {
    this.#fault(`command ${index} hangs:\n    ${what}`)
    process.exit(1)
  }

  /** With commands that run and survivors of commands that ended: closing ends all of it. */
  async #end(world: World, atFirst: Holdings): Promise<void> {
    const nonce = await world.nonce()
    const texts = [
      'sleep 60',
      "trap '' TERM; while :; do sleep 1; done",
      'sleep 60 & echo',
      'setsid sleep 60 & echo',
      '(setsid sleep 60 &); sleep 60',
      'yes',
    ]
    const left = await Promise.all(texts.map((command) => world.shell.execute(world.shell.resolve({ command, signal: world.session.signal }))))
    await world[Symbol.asyncDispose]().catch((error: unknown) => this.#fault(`closing: ${String(error)}`))
    await Promise.all(left.map(({ done }) => done))
    for (const leak of await leftBeyond(atFirst, world, nonce)) this.#fault(`after closing: ${leak}`)
    for (const warning of world.warnings) this.#fault(`a row warns: ${warning}`)
    await world.remove()
  }

  #isOver(): boolean {
    const { commands, minutes, first } = this.#extent
    return this.interrupted || this.#next >= first + commands || performance.now() - this.#began > minutes * 60_000
  }

  #fault(what: string): void {
    if (++this.#faults <= TOLD) console.error(`FAULT ${what}`)
  }

  #progress(): void {
    const seconds = ((performance.now() - this.#began) / 1_000).toFixed(0)
    const { heap = 0, outside = 0 } = this.#memory.at(-1) ?? {}
    console.error(
      `${this.#played.toLocaleString('en')} commands after ${seconds} s, ${this.#faults} faults, heap ${mebibytes(heap)}, outside ${mebibytes(outside)}`,
    )
  }

  #summarize(): void {
    this.#judgeMemory('heap', ({ heap }) => heap)
    this.#judgeMemory('memory outside the heap', ({ outside }) => outside)
    const { seed, first, concurrency } = this.#extent
    for (const [outcome, count] of [...this.#outcomes].sort(([, one], [, other]) => other - one))
      console.log(`${count.toLocaleString('en').padStart(8)} ${outcome}`)
    const seconds = ((performance.now() - this.#began) / 1_000).toFixed(0)
    console.log(`${this.#played.toLocaleString('en')} commands in ${seconds} s, ${concurrency} at a time, seed ${seed}: ${this.#faults} faults`)
    if (this.#faults > 0) console.log(`again: npm run soak -- exec --seed ${seed} --first ${first}; one command of it: --first NUMBER --commands 1`)
  }

  /** The first checkpoints see code being compiled; from there on what is in use stays what it is. */
  #judgeMemory(what: string, of: (point: { readonly heap: number; readonly outside: number }) => number): void {
    const points = this.#memory.slice(Math.ceil(this.#memory.length / 5))
    if (points.length < 4) return
    const half = Math.floor(points.length / 2)
    const [early, late] = [Math.min(...points.slice(0, half).map(of)), Math.min(...points.slice(-half).map(of))]
    console.log(`${what}: ${mebibytes(early)} at least in the first half, ${mebibytes(late)} in the second`)
    if (late - early > SLACK_BYTES) this.#fault(`${what} grows: ${points.map((point) => mebibytes(of(point))).join(', ')}`)
  }
}

/** Commands that do nothing: each has the runtime ask after a few trees that ended earlier. */
async function settle(world: World): Promise<void> {
  world.release()
  for (let index = 0; index < 30; index++) await world.nonce()
}

function mebibytes(bytes: number): string {
  return `${(bytes / 1024 ** 2).toFixed(1)} MiB`
}
