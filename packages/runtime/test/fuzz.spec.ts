import fc from 'fast-check'
import { expect, it } from 'vitest'
import { checkCatalog, printDiagnostic } from '../src/index.ts'
import { folder } from './folder.ts'
import { firstParty } from './plugins.ts'

const seed = `name: car
extends: [./base.yaml]
plugins:
  engine: &e { use: petrol-engine, with: { cylinders: 4, fuel: diesel } }
  second: *e
  box:
    use: gear-box
    when: { platform: [linux, darwin], env: { CI: false }, node: ">=20" }
    with: { ratios: [1, 2.5, 3], label: { text: "\${env:NAME:-none}" } }
    criticality: optional
  wheels: wheel-set
`

/** A text near a valid one: that is where readers break. */
const mutated = fc
  .array(
    fc.record({
      at: fc.nat(seed.length),
      remove: fc.nat(6),
      insert: fc.oneof(
        fc.string({ maxLength: 4 }),
        fc.constantFrom(
          '\t',
          '\n',
          '- ',
          ': ',
          '{',
          '}',
          '[',
          '*e',
          '&e ',
          '$unset: [a]',
          '$replace: 1',
          '<<: *e',
          '!!binary ',
          '---\n',
          '\u0000',
          '\ufeff',
          '"',
          "'",
          '| ',
        ),
      ),
    }),
    { minLength: 1, maxLength: 4 },
  )
  .map((edits) => edits.reduce((text, { at, remove, insert }) => text.slice(0, at) + insert + text.slice(at + remove), seed))

it('CP-04 whatever a catalog file holds, a check ends with diagnostics that point into a file', async () => {
  const dir = await folder({ 'base.yaml': 'plugins:\n  wheels: { use: wheel-set }\n' })
  await fc.assert(
    fc.asyncProperty(fc.oneof(mutated, fc.string({ unit: 'binary', maxLength: 60 })), async (text) => {
      const file = await dir.write('car.yaml', text)
      const { diagnostics, ok, composition } = await checkCatalog(file, { firstParty: firstParty(), host: { env: {}, platform: 'linux' } })
      expect(ok).toBe(!diagnostics.some(({ severity }) => severity === 'error'))
      const lines = text.split(/\r\n|\n/)
      for (const diagnostic of diagnostics) {
        expect(printDiagnostic(diagnostic)).not.toMatch(/undefined|\[object/)
        if (diagnostic.file !== file) continue
        expect(diagnostic.line).toBeGreaterThanOrEqual(1)
        expect(diagnostic.line).toBeLessThanOrEqual(lines.length)
        expect(diagnostic.column).toBeGreaterThanOrEqual(1)
        expect(diagnostic.endColumn).toBeGreaterThan(diagnostic.column)
      }
      for (const { state, loaded } of composition.rows) if (state === 'active') expect(loaded).toBeDefined()
    }),
    { numRuns: 400 },
  )
})
