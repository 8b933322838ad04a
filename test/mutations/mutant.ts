/** One planted fault: a change of one place of the kernel that the suite has to notice. Data, so that a list can be read. */
export interface Mutant {
  /** Kebab-case; unique. */
  readonly name: string
  /** What it breaks, as a reader of the kernel's promises would say it. */
  readonly fault: string
  /** Below `src`. */
  readonly file: string
  /** Stands exactly once in the file. */
  readonly find: string
  readonly replacement: string
  /** Spec files below `test` that have to fail, the fastest first; one failing test is enough. */
  readonly specs: readonly string[]
  /** The model test has to fail as well. */
  readonly byModel?: true
}

/** The model test alone, as a trial of its own. */
export function triedByModel(mutant: Mutant): Mutant {
  return { ...mutant, name: `${mutant.name}-by-model`, specs: ['model/composition.model.spec.ts'] }
}

/** @throws Error unless the anchor stands exactly once: a fault that is not planted proves nothing */
export function plant({ name, file, find, replacement }: Mutant, source: string): string {
  const found = source.split(find).length - 1
  if (found !== 1) throw new Error(`"${name}": ${JSON.stringify(find)} stands ${found} times in ${file}; give an anchor that stands once`)
  const mutated = source.replace(find, () => replacement)
  if (mutated === source) throw new Error(`"${name}" changes nothing`)
  return mutated
}
