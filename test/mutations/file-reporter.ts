import { appendFileSync } from 'node:fs'
import type { Reporter, TestModule } from 'vitest/node'
import type { FileReport } from './fate.ts'

/** Writes a line of JSON as each spec file ends: what has ended is known even if another file never does. */
export default class FileReporter implements Reporter {
  readonly #file: string

  constructor({ file }: { readonly file: string }) {
    this.#file = file
  }

  onTestModuleEnd(module: TestModule): void {
    const report: FileReport = {
      project: module.project.name,
      errors: module.errors().map(({ message }) => message),
      tests: [...module.children.allTests()].map((test) => {
        const { state, errors } = test.result()
        return { name: test.fullName, state, error: errors?.[0]?.message }
      }),
    }
    appendFileSync(this.#file, `${JSON.stringify(report)}\n`)
  }
}
