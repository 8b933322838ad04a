import { beforeEach } from 'vitest'

/** Of projects whose mutant was killed. Global: with `isolate: false` files share a process, and this module runs for each of them. */
const KILLED = Symbol.for('tenon.mutations.killed')
const shared = globalThis as { [KILLED]?: Set<string> }
shared[KILLED] ??= new Set()
const killed = shared[KILLED]

beforeEach(({ task, skip, onTestFailed }) => {
  const project = task.file.projectName ?? ''
  if (killed.has(project)) skip()
  onTestFailed(() => {
    killed.add(project)
  })
})
