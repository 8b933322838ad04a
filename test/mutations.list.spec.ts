import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { type FileReport, fateOf } from './mutations/fate.ts'
import { kernelMutants } from './mutations/kernel-mutants.ts'
import { type Mutant, plant } from './mutations/mutant.ts'

const source = (file: string): string => readFileSync(fileURLToPath(new URL(`../packages/kernel/src/${file}`, import.meta.url)), 'utf8')

describe('the list of faults', () => {
  it('KN-37 holds twenty at least, each under a name of its own', () => {
    expect(kernelMutants.length).toBeGreaterThanOrEqual(20)
    expect(new Set(kernelMutants.map(({ name }) => name)).size).toBe(kernelMutants.length)
  })

  it.each(kernelMutants)('KN-37 $name can be planted in $file', (mutant) => {
    expect(plant(mutant, source(mutant.file))).not.toBe(source(mutant.file))
  })
})

describe('planting', () => {
  const mutant: Mutant = { name: 'm', fault: 'f', file: 'a.ts', find: 'one', replacement: '$& two', specs: [] }

  it('changes the one place and takes the replacement as it is', () => {
    expect(plant(mutant, 'zero one')).toBe('zero $& two')
  })

  it.each([
    ['is not there', 'zero'],
    ['stands twice', 'one one'],
  ])('refuses an anchor that %s', (_, text) => {
    expect(() => plant(mutant, text)).toThrow('give an anchor that stands once')
  })

  it('refuses a fault that changes nothing', () => {
    expect(() => plant({ ...mutant, replacement: 'one' }, 'one')).toThrow('changes nothing')
  })
})

describe('the fate of a mutant', () => {
  const file = (project: string, states: readonly FileReport['tests'][number]['state'][], ...errors: readonly string[]): FileReport => ({
    project,
    errors,
    tests: states.map((state, index) => ({ name: `test ${index} ${state}`, state, error: state === 'failed' ? 'why' : undefined })),
  })

  it('is told by the tests of its own copy', () => {
    const reports = [file('a', ['passed', 'passed']), file('b', ['passed', 'failed', 'skipped'])]
    expect(fateOf(reports, 'a', 1)).toEqual({ is: 'survived', tests: 2 })
    expect(fateOf(reports, 'b', 1)).toEqual({ is: 'killed', by: 'test 1 failed', why: 'why' })
  })

  it.each([
    ['a file does not load', [file('a', ['passed']), file('a', [], 'SyntaxError')], 2],
    ['a file never ends', [file('a', ['passed'])], 2],
    ['all was skipped', [file('a', ['skipped'])], 1],
    ['nothing ran', [], 0],
  ])('is broken, not killed, when %s', (_, reports, count) => {
    expect(fateOf(reports, 'a', count)).toMatchObject({ is: 'broken' })
  })

  it('is killed when one file fails, whatever becomes of the others', () => {
    expect(fateOf([file('a', ['failed'])], 'a', 2)).toMatchObject({ is: 'killed' })
  })
})
