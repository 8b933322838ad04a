import type { Reporter, TestModule } from 'vitest/node'

/** Prints the one line that a build server can count by: `N passed, N failed[, N skipped]`. */
export default class CountsReporter implements Reporter {
  onTestRunEnd(modules: ReadonlyArray<TestModule>, unhandled: ReadonlyArray<unknown>): void {
    const count = { passed: 0, failed: unhandled.length, skipped: 0, pending: 0 }
    for (const module of modules) {
      for (const test of module.children.allTests()) count[test.result().state]++
      // A file that could not be loaded has no tests to fail.
      count.failed += module.errors().length
    }
    const skipped = count.skipped + count.pending
    console.log(`${count.passed} passed, ${count.failed} failed${skipped > 0 ? `, ${skipped} skipped` : ''}`)
  }
}
