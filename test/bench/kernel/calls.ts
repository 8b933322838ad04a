import { capability, definePlugin, Emitter, Kernel, Scope } from '@tenon/kernel'
import { stopwatch } from '../measuring/clock.ts'
import { type Context, newContext } from './cordis.ts'
import { times } from './workloads.ts'

/** Nanoseconds per call, one value a round; the variants of a round run one after the other. */
export interface Calls {
  readonly [variant: string]: readonly number[]
}

interface Counter {
  next(): number
}
const Counter = capability<Counter>('counter')

/** A method call through an injected capability, through a local variable, and through a service of cordis. */
export async function reading(rounds: number, callsPerRound: number): Promise<Calls> {
  let count = 0
  // Within 31 bits all the while: beyond them a counter is another kind of number, and slower.
  const local: Counter = { next: () => (count = (count + 1) | 0) }
  let injected = (_calls: number): void => undefined
  await using kernel = new Kernel()
  kernel.load(definePlugin({ name: 'provider', provides: [Counter], activate: (scope) => scope.provide(Counter, local) }))
  kernel.load(
    definePlugin({
      name: 'consumer',
      inject: [Counter],
      activate(_scope, counter) {
        injected = (calls) => {
          for (let call = 0; call < calls; call++) counter.next()
        }
      },
    }),
  )
  await kernel.settled()
  const viaContext = await readingOfCordis(local)
  return alternating(rounds, callsPerRound, {
    injected,
    local(calls) {
      for (let call = 0; call < calls; call++) local.next()
    },
    cordis: viaContext,
  })
}

/** One event to ten listeners: through an emitter, a plain loop over ten closures, and an event of cordis. */
export async function emitting(rounds: number, callsPerRound: number): Promise<Calls> {
  let sum = 0
  const listeners = times(10, (index) => (event: { readonly by: number }) => {
    sum = (sum + event.by * index) | 0
  })
  const event = { by: 1 }
  const emitter = new Emitter<typeof event>()
  await using scope = new Scope('bench')
  for (const listener of listeners) emitter.on(scope, listener)
  const context = await newContext()
  for (const listener of listeners) context.on('counted', listener)
  const measured = alternating(rounds, callsPerRound, {
    emitter(calls) {
      for (let call = 0; call < calls; call++) emitter.emit(event)
    },
    loop(calls) {
      for (let call = 0; call < calls; call++) for (const listener of listeners) listener(event)
    },
    cordis(calls) {
      for (let call = 0; call < calls; call++) context.emit('counted', event)
    },
  })
  // Looking at the sum also keeps the compiler from dropping what makes it.
  if (sum === 0) throw new Error('no listener was called')
  return measured
}

async function readingOfCordis(counter: Counter): Promise<(calls: number) => void> {
  let read = (_calls: number): void => undefined
  const context = await newContext()
  await context.plugin({ name: 'provider', apply: (own) => own.provide('counter', counter) })
  await context.plugin({
    name: 'consumer',
    inject: ['counter'],
    apply(own) {
      read = (calls) => {
        for (let call = 0; call < calls; call++) (own as Context & { readonly counter: Counter }).counter.next()
      }
    },
  })
  return read
}

const WARM_UP_ROUNDS = 5

function alternating<V extends string>(rounds: number, calls: number, variants: Record<V, (calls: number) => void>): Record<V, number[]> {
  const names = Object.keys(variants) as V[]
  const measured = Object.fromEntries(names.map((name) => [name, [] as number[]])) as Record<V, number[]>
  for (let round = 0; round < rounds + WARM_UP_ROUNDS; round++) {
    for (const name of names) {
      // A call of cordis costs thousands of times as much as that of a method: as many of them would take most of the time.
      const made = name === 'cordis' ? Math.ceil(calls / 2_000) : calls
      const elapsed = stopwatch()
      variants[name](made)
      if (round >= WARM_UP_ROUNDS) measured[name].push((elapsed() * 1e6) / made)
    }
  }
  return measured
}
