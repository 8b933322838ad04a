import type { Config, RowShape, Shape } from './scenario.ts'

export interface Wish {
  readonly code: Shape
  readonly config: Config
}

/** A row that is wanted. */
export interface Wanted {
  readonly shape: RowShape
  readonly order: number
  wish: Wish
  /** The wish that a command has repeated. */
  confirmed?: Wish
}

/** What the commands ask for: the model's side of the desired state, in load order, with what a transaction has to take back. */
export class Desired {
  #rows = new Map<string, Wanted>()
  #loaded = 0
  /** Of the transaction under way. */
  #undo: (() => void)[] | undefined

  get rows(): readonly Wanted[] {
    return [...this.#rows.values()].sort((a, b) => a.order - b.order)
  }

  get(id: string): Wanted | undefined {
    return this.#rows.get(id)
  }

  load(shape: RowShape, wish: Wish): void {
    const wanted: Wanted = { shape, wish, order: this.#loaded++ }
    this.#rows.set(shape.id, wanted)
    this.#undo?.push(() => this.#drop(wanted))
  }

  unload(id: string): void {
    const wanted = this.#rows.get(id)
    if (wanted === undefined) return
    this.#drop(wanted)
    this.#undo?.push(() => this.#rows.set(id, wanted))
  }

  set(id: string, wish: Wish): void {
    const wanted = this.#rows.get(id)
    if (wanted === undefined) return
    const before = wanted.wish
    wanted.wish = wish
    // A command that came later is no part of the transaction, and stands.
    this.#undo?.push(() => {
      if (wanted.wish === wish && wanted.confirmed !== wish) wanted.wish = before
    })
  }

  /** A command asks for what is wanted already: from now on it is wanted for the command's sake too. */
  confirm(id: string): void {
    const wanted = this.#rows.get(id)
    if (wanted !== undefined) wanted.confirmed = wanted.wish
  }

  /** Runs the edits of a transaction: they can be taken back, what commands do meanwhile cannot. */
  draft(edit: () => void): { takeBack(): void } {
    const undo: (() => void)[] = []
    this.#undo = undo
    const takeBack = (): void => {
      for (const step of undo.splice(0).reverse()) step()
    }
    try {
      edit()
    } catch (error) {
      takeBack()
      throw error
    } finally {
      this.#undo = undefined
    }
    return { takeBack }
  }

  #drop(wanted: Wanted): void {
    if (this.#rows.get(wanted.shape.id) === wanted) this.#rows.delete(wanted.shape.id)
  }
}
