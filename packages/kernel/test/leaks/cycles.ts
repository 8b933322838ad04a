import { definePlugin, type Kernel, type PluginScope } from '@tenon/kernel'
import { Other, Service, type Surroundings, subject } from './subject.ts'

/** Prepares a kernel, and returns one round, which ends where it began. */
type Cycle = (kernel: Kernel, around: Surroundings) => Promise<(index: number) => Promise<void>>

export const cycles = {
  async 'load and unload'(kernel, around) {
    return async (index) => {
      const provider = kernel.load(subject(around, index, { name: 'provider', provides: Service, keeps: 1 }), undefined, { id: `provider-${index}` })
      const user = kernel.load(subject(around, index + 1, { name: 'user', injects: Service }), {}, { id: `user-${index}` })
      around.witnesses.see('row', provider)
      await user.ready()
      await provider.unload()
      await user.unload()
    }
  },

  async 'replace code'(kernel, around) {
    const row = kernel.load(subject(around, 0, { name: 'provider', provides: Service }))
    kernel.load(subject(around, 0, { name: 'user', injects: Service }))
    await kernel.settled()
    return async (index) => {
      const fails = index % 10 === 9
      const replaced = row.replace(subject(around, index, { name: 'provider', provides: Service, keeps: index % 5, fails }))
      if (fails) await rejects(replaced, 'ROLLED_BACK')
      else await replaced
    }
  },

  async transactions(kernel, around) {
    kernel.load(subject(around, 0, { name: 'provider', provides: Service }))
    kernel.load(subject(around, 0, { name: 'user', injects: Service }), { round: -1 })
    kernel.load(subject(around, 0, { name: 'guest' }))
    await kernel.settled()
    return async (index) => {
      if (index % 7 === 6) await rejects(kernel.transaction(refusedEdit(around, index)), 'PLUGIN_UNRESOLVED')
      const { outcome } = await kernel.transaction((tx) => {
        tx.replace('provider', subject(around, index, { name: 'provider', provides: Service, keeps: index % 3 }))
        tx.reconfigure('user', { round: index })
        tx.unload('guest')
        tx.load(subject(around, index + 1, { name: 'guest', injects: Service, keeps: 1, fails: index % 5 === 4 }))
      })
      if (outcome !== (index % 5 === 4 ? 'rolled-back' : 'committed')) throw new Error(`transaction ${index} was ${outcome}`)
    }
  },

  async 'fork flips'(kernel, around) {
    kernel.load(forking(around))
    await kernel.settled()
    return async (index) => {
      const first = kernel.load(subject(around, index, { name: 'first', provides: Service }))
      await first.ready()
      const second = kernel.load(subject(around, index, { name: 'second', provides: Other }))
      await second.ready()
      await kernel.settled()
      await (index % 2 === 0 ? first : second).unload()
      await (index % 2 === 0 ? second : first).unload()
    }
  },
} satisfies Record<string, Cycle>

export type CycleName = keyof typeof cycles

function refusedEdit(around: Surroundings, index: number): Parameters<Kernel['transaction']>[0] {
  return (tx) => {
    tx.load(subject(around, index, { name: 'refused' }))
    tx.unload('unknown')
  }
}

/** Forks within forks, each with effects; some leave by themselves. */
function forking({ witnesses, emitter }: Surroundings) {
  const busy = (fork: PluginScope): void => {
    witnesses.see('fork', fork)
    witnesses.see('activation', fork.host)
    emitter.on(
      fork,
      witnesses.see('listener', () => undefined),
    )
    fork.defer(async () => Promise.resolve())
  }
  return definePlugin({
    name: 'forking',
    activate(scope) {
      scope.inject(
        [Service],
        async (fork) => {
          busy(fork)
          await Promise.resolve()
          fork.inject([Other], busy, busy)
          fork.inject([Other], (inner) => {
            busy(inner)
            void inner.close()
          })
        },
        busy,
      )
    },
  })
}

async function rejects(promise: Promise<unknown>, code: string): Promise<void> {
  const error = await promise.then(
    () => new Error('nothing'),
    (reason: Error) => reason,
  )
  if (!('code' in error) || error.code !== code) throw new Error(`expected ${code}, not ${error.message}`)
}
