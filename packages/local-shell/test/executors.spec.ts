import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'

const pluginFile = (name: string, path: string): string => readFileSync(new URL(`../../../plugins/${name}/${path}`, import.meta.url), 'utf8')

describe('the executors', () => {
  const sources = ['bash', 'pwsh'].map((dialect) => ({ dialect, text: pluginFile(`local-${dialect}`, 'src/index.ts') }))

  it('SH-37 are short files over this library, and differ in the dialect alone', () => {
    const [bash, pwsh] = sources.map(({ dialect, text }) => {
      expect(text.split('\n').length).toBeLessThanOrEqual(90)
      const code = text.replace(/\/\*\*[\s\S]*?\*\//g, '').replaceAll(dialect, 'DIALECT')
      return {
        code: code.replace(/import \{.*\} from '@tenon\/local-shell'/, ''),
        names: importedFromLibrary(text).map((name) => name.replace(dialect, 'DIALECT')),
      }
    })
    expect(bash?.code).toBe(pwsh?.code)
    expect(new Set(bash?.names)).toEqual(new Set(pwsh?.names))
    expect(bash?.names).toContain('LocalShell')
  })

  it('SH-37 run the same conformance suite', () => {
    for (const { dialect } of sources) {
      expect(pluginFile(`local-${dialect}`, `test/local-${dialect}.conformance.process.spec.ts`)).toMatch(/^describeShell\(\{$/m)
    }
  })
})

function importedFromLibrary(text: string): string[] {
  return (/import \{ (.*) \} from '@tenon\/local-shell'/.exec(text)?.[1] ?? '').split(', ')
}
