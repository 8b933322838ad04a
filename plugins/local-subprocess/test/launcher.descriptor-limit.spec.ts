import { describe, expect, it } from 'vitest'
import { inheritedLimit, restorable, restoring } from '../src/launch/descriptor-limit.ts'

/** As the kernel prints it. */
function limits(soft: number | string, hard: number | string): string {
  return [
    'Limit                     Soft Limit           Hard Limit           Units     ',
    'Max processes             95808                95808                processes ',
    `Max open files            ${String(soft).padEnd(20)} ${String(hard).padEnd(20)} files     `,
    'Max locked memory         3145728              3145728              bytes     ',
  ].join('\n')
}

describe('the limit of descriptors that the host was started with', () => {
  it('LN-12 is that of the parent, where the host raised its own', () => {
    expect(restorable(limits(1_048_576, 1_048_576), limits(1_024, 1_048_576))).toEqual({ soft: 1_024, hard: 1_048_576 })
  })

  it.each([
    ['both are alike', limits(4_096, 4_096), limits(4_096, 4_096)],
    ['the parent has more', limits(1_024, 4_096), limits(2_048, 4_096)],
    ['the hard limits differ, so that somebody changed them on the way', limits(4_096, 4_096), limits(1_024, 8_192)],
    ['it is too low for the launcher itself', limits(4_096, 4_096), limits(32, 4_096)],
    ['the text is of another kind', limits(4_096, 4_096), ''],
    ['the limit is no number', limits('unlimited', 'unlimited'), limits(1_024, 'unlimited')],
  ])('LN-12 is not told where %s', (_, own, parent) => {
    expect(restorable(own, parent)).toBeUndefined()
  })

  it('LN-12 is not told of a process that is not there', () => {
    expect(inheritedLimit(2 ** 30)).toBeUndefined()
  })

  it('LN-12 is set by prlimit', () => {
    expect(restoring(17, { soft: 1_024, hard: 4_096 })).toEqual(['prlimit', ['--pid=17', '--nofile=1024:4096']])
  })
})
