import { type Capability, capability, definePlugin, type Emitter, inject, type Plugin, PluginScope, Reconciling } from '@tenon/kernel'
import { z } from 'zod'
import type { Witnesses } from './witnesses.ts'

export interface Service {
  readonly made: number
}
export const Service = capability<Service>('service')
export const Other = capability<Service>('other')

/** One for all: zod compiles each schema, and its code would be all that is measured. */
const config = z.strictObject({ round: z.int().optional() }).prefault({})

/** What outlives every plugin: whoever registers with it must be gone with his scope. */
export interface Surroundings {
  readonly witnesses: Witnesses
  readonly emitter: Emitter<number>
  readonly signal: AbortSignal
}

export interface SubjectSpec {
  readonly name: string
  readonly injects?: Capability<Service>
  readonly provides?: Capability<Service>
  readonly fails?: boolean
  /** Keeps a value of this version. */
  readonly keeps?: number
}

/**
 * New code, as a reload brings it: a class, an activation and closures of its own. Each uses a part of what a scope
 * can own, four together all of it; every second one is asynchronous, so that timers are started.
 */
export function subject({ witnesses, emitter, signal }: Surroundings, index: number, spec: SubjectSpec): Plugin<{ round?: number } | undefined> {
  class Worker {
    constructor(
      @inject(Reconciling) readonly reconciling: Reconciling,
      @inject(PluginScope) readonly scope: PluginScope,
    ) {}
  }
  witnesses.see('class', Worker)

  const activate = (scope: PluginScope<unknown, Capability<Service>>, reconciling: Reconciling): void | Promise<void> => {
    witnesses.see('scope', scope)
    witnesses.see('activation', scope.host)
    emitter.on(
      scope,
      witnesses.see('listener', () => void scope.closed),
    )
    switch (index % 4) {
      case 0:
        witnesses.see('constructed', scope.construct(Worker))
        break
      case 1:
        scope.spawn((own) => new Promise((resolve) => own.addEventListener('abort', () => resolve(), { once: true })))
        break
      case 2:
        scope.child('inner').use({ [Symbol.asyncDispose]: async () => Promise.resolve() })
        break
      default:
        scope.log.debug('up')
        void reconciling.settled(signal)
    }
    if (spec.keeps !== undefined) keepValue(scope, witnesses, spec.keeps)
    if (spec.provides !== undefined) scope.provide(spec.provides, witnesses.see('value', { made: index }))
    const end = (): void => {
      if (spec.fails === true) throw new Error('fails')
    }
    return index % 2 === 0 ? end() : Promise.resolve().then(end)
  }
  return witnesses.see(
    'plugin',
    definePlugin({
      name: spec.name,
      inject: [Reconciling, ...(spec.injects === undefined ? [] : [spec.injects])],
      provides: spec.provides === undefined ? [] : [spec.provides],
      config,
      activate: witnesses.see('activate', activate),
    }),
  )
}

function keepValue(scope: PluginScope, witnesses: Witnesses, version: number): void {
  const make = (): Service => witnesses.see('kept', { made: version })
  scope.keep({
    key: 'value',
    version,
    create: make,
    dispose: witnesses.see('dispose', () => undefined),
    ...(version % 2 === 0 ? { migrate: make } : {}),
  })
}
