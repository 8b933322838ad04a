import { describe } from 'vitest'
import { endsOf } from './ends.ts'
import { lifetimeOf } from './lifetime.ts'
import { outputOf } from './output.ts'
import { requestsOf } from './requests.ts'
import { resultsOf } from './results.ts'
import type { ShellUnderTest } from './world.ts'

export { openKernelWorld } from './kernel-world.ts'
export type { Step } from './step.ts'
export { type Bench, benchOf, type ShellSettings, type ShellUnderTest, type ShellWorld, seen, UnsupportedStep } from './world.ts'

/**
 * What every provider of `shell` holds, over real processes: a provider is finished when this passes. It runs for a minute or two, and
 * belongs into a spec file that is run with isolation.
 */
export function describeShell(under: ShellUnderTest): void {
  describe(`shell by ${under.name}`, () => {
    describe('requests', () => requestsOf(under))
    describe('results', () => resultsOf(under))
    describe('ends', () => endsOf(under))
    describe('output', () => outputOf(under))
    describe('lifetime', () => lifetimeOf(under))
  })
}
