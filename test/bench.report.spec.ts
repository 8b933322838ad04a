import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type Finding, isMet, machine, replacePart, table, writePart } from './bench/measuring/report.ts'
import { summarize } from './bench/measuring/statistics.ts'

const ratio = (what: string, met: boolean): Finding => ({
  what,
  measured: summarize([15.25, 16.75, 18.25]),
  unit: 'x',
  target: { text: '≥ 15x', met },
})

describe('the table of a bench', () => {
  it('tells median, quartiles, runs and the verdict on each target, in columns that line up', () => {
    const time: Finding = { what: 'cordis', measured: summarize([1234.4, 1234.4]), unit: 'ms' }
    expect(table([ratio('load', true), ratio('boot', false), time]).split('\n')).toEqual([
      '| what   | median   | quartiles           | runs | target |        |',
      '|--------|----------|---------------------|------|--------|--------|',
      '| load   | 16.8x    | 16.0x – 17.5x       | 3    | ≥ 15x  | met    |',
      '| boot   | 16.8x    | 16.0x – 17.5x       | 3    | ≥ 15x  | MISSED |',
      '| cordis | 1,234 ms | 1,234 ms – 1,234 ms | 2    |        |        |',
    ])
  })

  it('writes three digits that count', () => {
    const medians = [0.0456, 4.567, 45.67, 456.7, 4567, 1_234_567].map((value) => table([{ what: 'x', measured: summarize([value]), unit: 'ns' }]))
    expect(medians.map((text) => text.split('|').at(-6)?.trim())).toEqual(['0.05 ns', '4.57 ns', '45.7 ns', '457 ns', '4,567 ns', '1,234,567 ns'])
  })

  it('is met when no target is missed', () => {
    expect(isMet([ratio('a', true), { what: 'b', measured: summarize([1]), unit: 'ms' }])).toBe(true)
    expect(isMet([ratio('a', true), ratio('b', false)])).toBe(false)
  })

  it('names Node and the processor, not the machine', () => {
    expect(machine()).toMatch(/^Node \d+\.\d+\.\d+, \d+ × \S/)
  })
})

describe('the part of a bench in the report', () => {
  const report = 'before\n\n<!-- bench:a -->\n\nold\n\n<!-- /bench:a -->\n\nbetween\n\n<!-- bench:b -->\n\nother\n\n<!-- /bench:b -->\n\nafter\n'

  it('is replaced, and nothing else', () => {
    expect(replacePart(report, 'a', 'new')).toBe(report.replace('old', 'new'))
    expect(replacePart(report, 'b', '\nnew $& $1\n')).toBe(report.replace('other', () => 'new $& $1'))
  })

  it('is replaced by the same without a trace', () => {
    expect(replacePart(report, 'a', 'old')).toBe(report)
  })

  it('is put at the end when there is none yet', () => {
    expect(replacePart('# Title\n', 'c', 'new')).toBe('# Title\n\n<!-- bench:c -->\n\nnew\n\n<!-- /bench:c -->\n')
    expect(replacePart('', 'c', 'new')).toBe('<!-- bench:c -->\n\nnew\n\n<!-- /bench:c -->\n')
  })

  it.each([
    ['the end is missing', '<!-- bench:a -->'],
    ['the beginning is missing', '<!-- /bench:a -->'],
    ['the end comes first', '<!-- /bench:a --> <!-- bench:a -->'],
    ['it stands twice', '<!-- bench:a --><!-- /bench:a --><!-- bench:a --><!-- /bench:a -->'],
  ])('is left alone when %s', (_, text) => {
    expect(() => replacePart(text, 'a', 'new')).toThrow('must each stand once')
  })
})

describe('the report file', () => {
  let folder = ''
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'tenon-bench-'))
  })
  afterEach(() => rm(folder, { recursive: true }))

  it('is made with its folder when it is not there', async () => {
    const file = join(folder, 'reference', 'performance.md')
    await writePart(file, 'a', 'new')
    expect(await readFile(file, 'utf8')).toBe('# Performance\n\n<!-- bench:a -->\n\nnew\n\n<!-- /bench:a -->\n')
  })

  it('keeps what others wrote', async () => {
    const file = join(folder, 'performance.md')
    await writeFile(file, '# Ours\n\nWords.\n')
    await writePart(file, 'a', 'one')
    await writePart(file, 'b', 'two')
    await writePart(file, 'a', 'three')
    expect(await readFile(file, 'utf8')).toBe(
      '# Ours\n\nWords.\n\n<!-- bench:a -->\n\nthree\n\n<!-- /bench:a -->\n\n<!-- bench:b -->\n\ntwo\n\n<!-- /bench:b -->\n',
    )
  })
})
