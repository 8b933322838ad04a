import { expect, it } from 'vitest'
import { isInherited } from '../src/launcher/inherited-descriptors.ts'

it.each([
  ['pos:\t0\nflags:\t0100000\nmnt_id:\t37\nino:\t9\n', true],
  ['pos:\t0\nflags:\t02100000\nmnt_id:\t37\nino:\t9\n', false],
  ['pos:\t0\nflags:\t02000002\nmnt_id:\t15\nino:\t1\neventfd-count: 0\n', false],
  ['pos:\t0\nflags:\t02\nmnt_id:\t15\nino:\t1\neventfd-count: 2000000\n', true],
  ['pos:\t0\n', false],
])('LN-08 of %j is handed on: %s', (info, inherited) => {
  expect(isInherited(info)).toBe(inherited)
})
