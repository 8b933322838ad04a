import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  type CollectedText,
  parseRendered,
  readShellRecord,
  recordedFacts,
  renderResult,
  type SandboxFacts,
  type ShellResult,
  shellRecord,
} from '../src/index.ts'

/** Text made of what the grammar of markers could trip over. */
const trickyText = fc
  .array(
    fc.oneof(
      fc.constantFrom('\n', '\r\n', '\r', '', 'x', '[', ']', '[stderr]', '(no output)', '\u2028', '≤', '\0', '[exit code: ', '[killed by signal: '),
      fc.constantFrom(
        '[exit code: 0]',
        '[exit code: 1]',
        '[exit code: -7]',
        '\n[exit code: 255]',
        '[killed by signal: SIGTERM]',
        '\n[killed by signal: X]',
        '[exit status unknown: the launcher was lost]',
      ),
      fc.string({ unit: 'grapheme', maxLength: 4 }),
    ),
    { maxLength: 6 },
  )
  .map((parts) => parts.join(''))

const stream: fc.Arbitrary<CollectedText> = fc
  .record({ text: trickyText, truncated: fc.boolean(), spillPath: fc.option(fc.constant('/t/1.out')), error: fc.option(trickyText) })
  .map(({ text, truncated, spillPath, error }) => ({
    text,
    bytes: Buffer.byteLength(text),
    truncated,
    ...(spillPath !== null && { spillPath }),
    ...(error !== null && { error }),
  }))

const sandbox: fc.Arbitrary<SandboxFacts> = fc.record({
  mode: fc.constantFrom('read-only', 'workspace-write', 'danger-full-access'),
  denied: fc.boolean(),
  runnerFailed: fc.boolean(),
})

const exit = fc.oneof(
  fc.constant({ exitCode: null, signal: null }),
  fc.constant<Pick<ShellResult, 'exitCode' | 'signal' | 'lost'>>({ exitCode: null, signal: null, lost: true }),
  fc.constantFrom<NodeJS.Signals>('SIGKILL', 'SIGTERM', 'SIGSEGV').map((signal) => ({ exitCode: null, signal })),
  fc.constantFrom(0, 0, 1, 2, 127, 255, -1, -2_147_483_648, 4_294_967_295).map((exitCode) => ({ exitCode, signal: null })),
)

const anyResult: fc.Arbitrary<ShellResult> = fc
  .record({ exit, timedOut: fc.boolean(), stdout: stream, stderr: stream, sandbox: fc.option(sandbox) })
  .map(({ exit: facts, timedOut, stdout, stderr, sandbox: confinement }) => ({
    ...facts,
    timedOut,
    aborted: false,
    timeoutMs: 100,
    durationMs: 5,
    stdout,
    stderr,
    ...(confinement !== null && { sandbox: confinement }),
  }))

const options = fc.record({ stopped: trickyText, escalation: fc.boolean() }, { requiredKeys: [] })

describe('parseRendered', () => {
  it('SH-45 restores signal and exit code of every result, and body and marker are the text', () => {
    fc.assert(
      fc.property(anyResult, options, (result, rendering) => {
        const text = renderResult(result, rendering)
        const parsed = parseRendered(text)
        expect(parsed.signal).toBe(result.signal)
        expect(parsed.exitCode).toBe(result.signal === null && result.lost !== true ? (result.exitCode ?? 0) : null)
        expect(parsed.body + marker(parsed)).toBe(text)
      }),
      { numRuns: 3_000 },
    )
  })

  it('SH-45 recognises exit markers at the very end only', () => {
    expect(parseRendered('a\n[exit code: 3]')).toEqual({ body: 'a', exitCode: 3, signal: null })
    expect(parseRendered('a\n[killed by signal: SIGHUP]')).toEqual({ body: 'a', exitCode: null, signal: 'SIGHUP' })
    for (const text of [
      'a\n[exit code: 3]\n',
      'a [exit code: 3]',
      '[exit code: 3]',
      'a\n[exit code: 03]',
      'a\n[exit code: 3',
      'a\n[timed out after 5ms]',
      '',
    ]) {
      expect(parseRendered(text)).toEqual({ body: text, exitCode: 0, signal: null })
    }
  })

  it('SH-45 looks at the last line only, however long the text', () => {
    const text = `${'[exit code: 1]\n'.repeat(500_000)}[exit code: 9]`
    const started = performance.now()
    expect(parseRendered(text).exitCode).toBe(9)
    expect(performance.now() - started).toBeLessThan(3_000)
  })
})

describe('ShellRecord', () => {
  const ran: ShellResult = {
    exitCode: 3,
    signal: null,
    timedOut: false,
    aborted: false,
    timeoutMs: 100,
    durationMs: 5,
    stdout: { text: 'x', bytes: 1, truncated: false },
    stderr: { text: '', bytes: 0, truncated: false },
  }

  it('SH-47 survives JSON and outranks its text', () => {
    const record = shellRecord(ran, { stopped: 'enough' })
    const stored: unknown = JSON.parse(JSON.stringify(record))
    expect(readShellRecord(stored)).toEqual(record)
    expect(recordedFacts('edited\n[exit code: 0]', stored)).toEqual({ body: 'x\n[stopped: enough]', exitCode: 3, signal: null })
  })

  it('SH-47 keeps the difference between null and 0, which text does not', () => {
    const record = shellRecord({ ...ran, exitCode: null })
    expect(recordedFacts(record.text).exitCode).toBe(0)
    expect(recordedFacts(record.text, record).exitCode).toBeNull()
  })

  it('SH-47 an unknown version, or anything else, falls back to parsing', () => {
    const record = shellRecord(ran)
    for (const stored of [{ ...record, version: 2 }, { ...record, result: { exitCode: '3' } }, { version: 1 }, 'x', null, undefined]) {
      expect(readShellRecord(stored)).toBeUndefined()
      expect(recordedFacts('y\n[exit code: 4]', stored)).toEqual({ body: 'y', exitCode: 4, signal: null })
    }
  })
})

function marker(parsed: { exitCode: number | null; signal: string | null }): string {
  if (parsed.signal !== null) return `\n[killed by signal: ${parsed.signal}]`
  if (parsed.exitCode === null) return '\n[exit status unknown: the launcher was lost]'
  return parsed.exitCode === 0 ? '' : `\n[exit code: ${parsed.exitCode}]`
}
