import { Agenda } from './agenda.ts'
import { runMarked } from './context.ts'
import { Lifecycle, type Observer } from './lifecycle.ts'
import { decide, planDown, planUp } from './plan.ts'
import { inOrder, type RowUnit, type World } from './world.ts'

/**
 * Makes the world what it should be: loops until the plan is empty. Commands only change what is wanted and say what they touched,
 * so none is lost, whenever it comes.
 */
export class Reconciler {
  readonly agenda: Agenda
  readonly #observer: Observer
  readonly #lifecycle: Lifecycle
  readonly #passed: () => void
  #frozen = false

  /** @param passed called when everything that can be done now is done. */
  constructor(world: World, observer: Observer, passed: () => void) {
    this.#observer = observer
    this.#passed = passed
    this.agenda = new Agenda(world, () => this.#pass())
    this.#lifecycle = new Lifecycle(this.agenda, observer)
  }

  /** The kernel closes: nothing comes up any more. */
  freeze(): void {
    this.#frozen = true
    this.agenda.schedule()
  }

  /** Rows in transition, and those whose transition is due. */
  pending(): RowUnit[] {
    const { changed, waiting, movingRows } = this.agenda
    const rows = new Set(movingRows)
    for (const { unit } of planDown(changed)) rows.add(unit.row)
    for (const { unit } of planUp([...changed, ...waiting]).up) rows.add(unit.row)
    return [...rows].sort(inOrder)
  }

  /** Something that must end before anything comes up, such as what an unloaded row kept. */
  waitFor(row: RowUnit, work: Promise<void>): void {
    this.agenda.leave(row, 1)
    void work.then(() => {
      this.agenda.leave(row, -1)
      this.agenda.schedule()
    })
  }

  /** In nobody's name: a pass that a plugin's command caused would else run listeners under that plugin's mark. */
  #pass(): void {
    runMarked(undefined, () => {
      while (this.#takeDown() || this.#close() || this.#bringUp() || this.#breakTie());
      this.#passed()
    })
  }

  #takeDown(): boolean {
    if (this.agenda.changed.size === 0) return false
    const changed = [...this.agenda.changed]
    this.agenda.changed.clear()
    for (const activation of planDown(changed)) this.#lifecycle.doom(activation)
    for (const unit of changed) {
      if (unit.activation !== undefined) continue
      if (unit.wanted) this.agenda.waiting.add(unit)
      else if (unit === unit.row && !unit.row.unloaded) this.#observer.gone(unit.row)
    }
    return true
  }

  #close(): boolean {
    const closable = this.agenda.takeClosable()
    for (const activation of closable) this.#lifecycle.close(activation)
    return closable.length > 0
  }

  #bringUp(): boolean {
    if (this.#frozen) for (const units of [this.agenda.waiting, this.agenda.held]) units.clear()
    if (this.agenda.leaving > 0) return false
    const waiting = this.agenda.takeWaiting()
    const { up, held } = planUp(waiting)
    for (const unit of held) this.agenda.held.add(unit)
    for (const start of up) {
      // What came up before it in this batch may have changed everything.
      if (this.agenda.leaving === 0 && decide(start.unit) === start.branch) this.#lifecycle.start(start)
      else this.agenda.waiting.add(start.unit)
    }
    return waiting.length > 0
  }

  /** Nothing moves, so what is held waits only for others that are held: the first loaded of them starts (6). */
  #breakTie(): boolean {
    if (this.agenda.held.size === 0 || !this.agenda.isIdle) return false
    const [unit] = planUp(this.agenda.held).held.sort(inOrder)
    if (unit === undefined) return false
    this.agenda.held.delete(unit)
    this.agenda.setback = true
    this.#lifecycle.start({ unit, branch: unit === unit.row ? 'present' : 'otherwise' })
    return true
  }
}
