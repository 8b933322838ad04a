import type { Kernel } from '@tenon/kernel'

/** The phases that a row goes through from now on, as a list that grows. */
export function phasesOf(kernel: Kernel, id: string): string[] {
  const phases: string[] = []
  kernel.events.on(kernel.scope, (event) => {
    if (event.type === 'phase' && event.row === id) phases.push(event.phase)
  })
  return phases
}

/** What every row is now, by id. */
export function phases(kernel: Kernel): Record<string, string> {
  return Object.fromEntries(kernel.inspect().rows.map(({ id, phase }) => [id, phase]))
}
