import { Scope } from '@tenon/kernel'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type Opened, openJobs } from './opened.ts'

let app: Opened
/** What became of the branches, in order. */
let told: string[]
beforeEach(async () => {
  app = await openJobs()
  told = []
})
afterEach(() => app.kernel.close())

const turn = () => new Promise((resolve) => setImmediate(resolve))
const follow = (scope: Scope, name = 'branch') => {
  app.jobs.whileControlled(scope, (branch) => {
    told.push(`${name} opens`)
    branch.defer(() => void told.push(`${name} ends`))
  })
}
const attach = (name: string) => {
  const scope = app.kernel.scope.child(name)
  app.jobs.attachController(scope, { name })
  return scope
}
/** A scope whose owner notes what is reported. */
function watched() {
  const faults: string[] = []
  const scope = new Scope('watched', { undoMs: 1_000, report: (error) => void faults.push(error.message) })
  return { scope, faults }
}

describe('while there is a controller', () => {
  it('JB-04 a branch is there at once, ends with the last controller, and is there again with the next', async () => {
    follow(app.kernel.scope)
    expect(told).toEqual(['branch opens'])
    const second = attach('second')
    await app.controller.close()
    expect(told).toEqual(['branch opens'])
    await second.close()
    await turn()
    expect(told).toEqual(['branch opens', 'branch ends'])
    attach('third')
    expect(told).toEqual(['branch opens', 'branch ends', 'branch opens'])
  })

  it('JB-04 without one there is no branch, and none after its scope has closed', async () => {
    await app.controller.close()
    const scope = app.kernel.scope.child('tool')
    follow(scope)
    expect(told).toEqual([])
    const first = attach('first')
    await scope.close()
    expect(told).toEqual(['branch opens', 'branch ends'])
    await first.close()
    attach('second')
    await turn()
    expect(told).toEqual(['branch opens', 'branch ends'])
    expect(() => follow(scope)).toThrow(expect.objectContaining({ code: 'SCOPE_CLOSED' }))
  })

  it('JB-04 a thousand flips of the controller leave one branch and nothing else behind', async () => {
    await app.controller.close()
    const scope = app.kernel.scope.child('tool')
    follow(scope)
    const before = scope.effects
    for (let n = 0; n < 1_000; n++) void attach('flip').close()
    attach('last')
    await turn()
    expect([told.filter((what) => what === 'branch opens').length, told.filter((what) => what === 'branch ends').length]).toEqual([1_001, 1_000])
    expect(scope.effects).toBe(before)
    await scope.close()
    expect(told.at(-1)).toBe('branch ends')
  })

  it('JB-04 a body that takes the controller away ends its own branch', async () => {
    app.jobs.whileControlled(app.kernel.scope, (branch) => {
      branch.defer(() => void told.push('ends'))
      void app.controller.close()
    })
    await turn()
    expect(told).toEqual(['ends'])
  })

  it('JB-52 the branch ends when the registry does, also one that a host holds', async () => {
    follow(app.kernel.scope, 'host')
    const held = app.start()
    const unloading = app.kernel.row('jobs')?.unload()
    await turn()
    // First: while the jobs are being stopped nothing can start any more.
    expect(told).toEqual(['host opens', 'host ends'])
    await held.end({ status: 'killed' })
    await unloading
  })

  it('JB-53 a reload of the registry does not touch it', async () => {
    follow(app.kernel.scope)
    await app.kernel.row('jobs')?.reconfigure({ settledPerOwner: 5 })
    expect(told).toEqual(['branch opens'])
  })

  it('a body that throws at once is thrown, leaves no branch, and is tried with the next first controller', async () => {
    const { scope, faults } = watched()
    let left = 1
    const body = (branch: Scope) => {
      branch.defer(() => void told.push('ends'))
      if (left-- > 0) throw new Error('no such tool')
      told.push('opens')
    }
    expect(() => app.jobs.whileControlled(scope, body)).toThrow('no such tool')
    await turn()
    expect([told, faults]).toEqual([['ends'], []])
    await app.controller.close()
    attach('next')
    expect(told).toEqual(['ends', 'opens'])
    await scope.close()
  })

  it('a body that throws later, or is asynchronous and rejects, is reported to its scope and leaves no branch', async () => {
    await app.controller.close()
    const { scope, faults } = watched()
    app.jobs.whileControlled(scope, (branch) => {
      branch.defer(() => void told.push('first ends'))
      throw new Error('too early')
    })
    const late: (branch: Scope) => unknown = async (branch) => {
      branch.defer(() => void told.push('second ends'))
      await turn()
      throw new Error('too late')
    }
    app.jobs.whileControlled(scope, late)
    follow(scope, 'third')
    attach('next')
    await turn()
    await turn()
    expect(faults).toEqual(['too early', 'too late'])
    expect(told).toEqual(['first ends', 'third opens', 'second ends'])
    await scope.close()
  })
})
