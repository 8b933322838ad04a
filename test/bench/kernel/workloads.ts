/** Milliseconds of the steps of a workload, or bytes. */
export type Figures = Readonly<Record<string, number>>

/** What is measured of both systems, each in its own idiom. Definitions are made before the clock starts. */
export interface Workloads {
  /** `count` independent plugins with one effect, each injecting the one service; until all are active. */
  load(count: number): Promise<{ readonly loadMs: number; readonly closeMs: number }>
  /** A chain in which each plugin injects what the one before provides: up, the root restarted until all are up again, closed. */
  chain(count: number): Promise<{ readonly bootMs: number; readonly restartMs: number; readonly closeMs: number }>
  /** Heap bytes per active plugin with one effect, its definition included. */
  memory(count: number): Promise<{ readonly bytes: number }>
}

export type WorkloadName = keyof Workloads

export function times<T>(count: number, make: (index: number) => T): T[] {
  return Array.from({ length: count }, (_, index) => make(index))
}
