import type { Reporter, TestModule, TestRunEndReason } from 'vitest/node'

/**
 * Prints the one line that a build server can count by: `N passed, N failed[, N skipped]`.
 *
 * Failed is whatever makes the run fail: tests, hooks of a suite, files that could not be loaded, errors nobody caught, and a
 * run that found no test. Skipped is what did not run: marked so, left to do, or skipped by a failed hook.
 */
export default class CountsReporter implements Reporter {
  onTestRunEnd(modules: readonly TestModule[], unhandled: readonly unknown[], reason: TestRunEndReason): void {
    const count = { passed: 0, failed: unhandled.length, skipped: 0, pending: 0 }
    for (const module of modules) {
      for (const test of module.children.allTests()) count[test.result().state]++
      count.failed += module.errors().length
      for (const suite of module.children.allSuites()) count.failed += suite.errors().length
    }
    if (reason !== 'passed' && count.failed === 0) count.failed = 1
    const skipped = count.skipped + count.pending
    console.log(`${count.passed} passed, ${count.failed} failed${skipped > 0 ? `, ${skipped} skipped` : ''}`)
  }
}
