import { type SpawnSpec, SubprocessError, validateRead, validateSpec } from '@tenon/subprocess'
import { describe, expect, it } from 'vitest'

const good: SpawnSpec = {
  argv: ['true'],
  cwd: '/',
  stdin: 'ignore',
  stdout: { maxBytes: 64, spill: { maxBytes: 64 } },
  stderr: { maxBytes: 64 },
  graceMs: 1,
}

function refusal(change: Record<string, unknown>, platform: NodeJS.Platform = 'linux'): SubprocessError {
  try {
    validateSpec({ ...good, ...change }, platform)
  } catch (error) {
    expect(error).toBeInstanceOf(SubprocessError)
    return error as SubprocessError
  }
  throw new Error('the spec was accepted')
}

describe('validateSpec', () => {
  it('accepts the smallest and the largest spec', () => {
    validateSpec(good, 'linux')
    validateSpec({ ...good, graceMs: 2_147_483_647, stdout: { maxBytes: 268_435_456 }, stderr: 'pipe', stdin: 'pipe' }, 'linux')
    validateSpec({ ...good, argv: ['/bin/echo', ''], argv0: 'echo', env: { A: '1', B: undefined }, signal: AbortSignal.abort() }, 'linux')
    validateSpec({ ...good, stdin: { data: new Uint8Array(2) }, stdout: 'inherit', stderr: { maxBytes: 4, spill: undefined } }, 'linux')
  })

  it.each([0, -1, 1.5, Number.NaN, Number.POSITIVE_INFINITY, '5', 2_147_483_648, undefined, null])(
    'SP-01 graceMs %s is refused and the message names the field and the range',
    (graceMs) => {
      const error = refusal({ graceMs })
      expect(error.code).toBe('SPEC_INVALID')
      expect(error.details).toEqual({ field: 'graceMs' })
      expect(error.message).toContain('graceMs')
      expect(error.message).toContain('from 1 to 2147483647')
    },
  )

  it.each([
    ['stdout.maxBytes', { stdout: { maxBytes: 3 } }],
    ['stdout.maxBytes', { stdout: { maxBytes: 268_435_457 } }],
    ['stdout.maxBytes', { stdout: { maxBytes: 4.5 } }],
    ['stdout.maxBytes', { stdout: { maxBytes: Number.NaN } }],
    ['stdout.maxBytes', { stdout: { maxBytes: '64' } }],
    ['stdout.maxBytes', { stdout: {} }],
    ['stderr.maxBytes', { stderr: { maxBytes: -1 } }],
    ['stderr.spill.maxBytes', { stderr: { maxBytes: 64, spill: { maxBytes: 63 } } }],
    ['stderr.spill.maxBytes', { stderr: { maxBytes: 64, spill: { maxBytes: 2 ** 53 } } }],
    ['stdout.spill.maxBytes', { stdout: { maxBytes: 64, spill: {} } }],
    ['stdout.spill', { stdout: { maxBytes: 64, spill: null } }],
  ])('SP-01 a bad byte limit is refused by its name: %s %j', (field, change) => {
    const error = refusal(change)
    expect(error.code).toBe('SPEC_INVALID')
    expect(error.details).toEqual({ field })
    expect(error.message).toContain(field)
  })

  it.each([
    ['argv', { argv: [] }],
    ['argv', { argv: 'true' }],
    ['argv[0]', { argv: [''] }],
    ['argv[0]', { argv: ['./x'] }],
    ['argv[0]', { argv: ['a/b'] }],
    ['argv[1]', { argv: ['echo', 1] }],
    ['argv0', { argv0: '' }],
    ['cwd', { cwd: 'tmp' }],
    ['cwd', { cwd: '' }],
    ['cwd', { cwd: undefined }],
    ['timeoutMs', { timeoutMs: 5 }],
    ['stdout.maxbytes', { stdout: { maxbytes: 5 } }],
    ['stdout.spill.path', { stdout: { maxBytes: 5, spill: { maxBytes: 5, path: '/x' } } }],
    ['stdin.text', { stdin: { text: 'x' } }],
    ['stdin', { stdin: 'inherit' }],
    ['stdin.data', { stdin: { data: 5 } }],
    ['stdout', { stdout: 'ignore' }],
    ['signal', { signal: {} }],
    ['env', { env: { TENON_PROCESS: 'x' } }],
    ['env', { env: { TENON_PROCESS: undefined } }],
    ['env', { env: { 'TENON_PROCESS=x': 'y' } }],
    ['env.A', { env: { A: 1 } }],
  ])('SP-02 %s is refused in %j', (field, change) => {
    const error = refusal(change)
    expect(error.code).toBe('SPEC_INVALID')
    expect(error.details).toEqual({ field })
  })

  it('SP-02 an unknown member is answered with the one that was probably meant', () => {
    expect(refusal({ grace_ms: 5 }).message).toContain('did you mean graceMs?')
    expect(refusal({ stdout: { maxByte: 5 } }).message).toContain('did you mean stdout.maxBytes?')
  })

  it('SP-02 paths are judged by the rules of the platform', () => {
    const windows = { ...good, cwd: 'C:\\work' }
    validateSpec({ ...windows, argv: ['C:\\tools\\x.exe'] }, 'win32')
    expect(refusal({ ...windows, argv: ['C:x.exe'] }, 'win32').details).toEqual({ field: 'argv[0]' })
    expect(refusal({ ...windows, argv: ['a\\b'] }, 'win32').details).toEqual({ field: 'argv[0]' })
    expect(refusal({ ...windows, env: { tenon_process: 'x' } }, 'win32').details).toEqual({ field: 'env' })
    expect(refusal({ ...windows, cwd: 'C:\\work' }).details).toEqual({ field: 'cwd' })
  })

  it('leaves other TENON_ names and names of any shape to the caller', () => {
    validateSpec({ ...good, env: { TENON_SESSION: 'a', tenon_process: 'b', 'a.b': '', '': 'x', __proto__: 'y' } }, 'linux')
  })
})

describe('validateRead', () => {
  it.each([-1, 1.5, Number.NaN, 2 ** 53, '0'])('refuses the offset %s', (offset) => {
    expect(() => validateRead(offset as number, undefined)).toThrow(expect.objectContaining({ code: 'READ_INVALID' }))
  })

  it.each([3, 0, -4, 4.5, Number.NaN, '8'])('refuses maxBytes %s', (maxBytes) => {
    expect(() => validateRead(0, maxBytes as number)).toThrow(expect.objectContaining({ code: 'READ_INVALID' }))
  })

  it('accepts what is in range', () => {
    expect(() => validateRead(0, undefined)).not.toThrow()
    expect(() => validateRead(Number.MAX_SAFE_INTEGER, 4)).not.toThrow()
  })
})
