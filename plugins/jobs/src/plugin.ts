import { Jobs } from '@tenon/jobs'
import { definePlugin, type KeepSpec } from '@tenon/kernel'
import { activationOf } from './activation.ts'
import type { Clock } from './clock.ts'
import { JobsConfig } from './config.ts'
import { type KeptJobs, keptCounters, keptJobs } from './kept.ts'
import { JobRegistry } from './registry.ts'

/** @param format of the records, for a version that is another than the present one */
export function jobsPlugin(clock: Clock, format?: Partial<Pick<KeepSpec<KeptJobs>, 'version' | 'migrate'>>) {
  return definePlugin({
    name: 'jobs',
    provides: [Jobs],
    config: JobsConfig,
    activate(scope) {
      const activation = activationOf(scope.config, scope.log, clock, scope.keep(keptCounters))
      const kept = scope.keep(keptJobs(activation, format))
      kept.activation = activation
      scope.provide(Jobs, new JobRegistry(kept))
    },
  })
}
