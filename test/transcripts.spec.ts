import { tmpdir } from 'node:os'
import { describe, expect, it } from 'vitest'
import { parseTranscript, renderStory, renderTranscript } from './transcripts/transcript.ts'
import { withoutVolatile } from './transcripts/volatile.ts'

const text = `# Title

\`\`\`rows
jobs: off
\`\`\`

## One story

Prose with \`code\`.

\`\`\`call A @two
bash { "command": "true" }
\`\`\`
\`\`\`result A
\`\`\`

## Another
`

describe('a transcript', () => {
  it('is stories under headings, and fences with their words and lines', () => {
    const { preface, stories } = parseTranscript(text)
    expect(preface.pieces[1]).toEqual({ kind: 'rows', words: [], text: 'jobs: off', line: 3 })
    expect(stories.map(({ title }) => title)).toEqual(['One story', 'Another'])
    expect(stories[0]?.pieces.filter((piece) => typeof piece !== 'string')).toEqual([
      { kind: 'call', words: ['A', '@two'], text: 'bash { "command": "true" }', line: 11 },
      { kind: 'result', words: ['A'], text: '', line: 14 },
    ])
  })

  it('is written as it was read, whole and by stories', () => {
    const transcript = parseTranscript(text)
    expect(renderTranscript(transcript)).toBe(text)
    expect([transcript.preface, ...transcript.stories].map(renderStory).join('\n')).toBe(text)
  })

  it('has no heading inside a fence, and no fence without an end', () => {
    expect(parseTranscript('```result\n## not a story\n```').stories).toEqual([])
    expect(() => parseTranscript('a\n```result\nb')).toThrow('line 2: the fence is never closed')
  })
})

describe('what is volatile', () => {
  const shown = (one: string) => withoutVolatile(one, { directory: '/tmp/x-1', bounds: new Set([250]) })

  it.each([
    ['/tmp/x-1/out', '<cwd>/out'],
    [`[output truncated; full output: ${tmpdir()}/tenon-7/3.out]`, '[output truncated; full output: <file>]'],
    ['bash-1 [bash] running (2m14s) — make', 'bash-1 [bash] running (<age>) — make'],
    ['pid 4711', 'pid <pid>'],
    ['[still running after 1234ms; moved', '[still running after <time>ms; moved'],
    ['durationMs: 12.5', 'durationMs: <time>'],
    ['timeoutMs: 1234', 'timeoutMs: <time>'],
  ])('%s is %s', (one, other) => {
    expect(shown(one)).toBe(other)
  })

  it.each(['[timed out after 250ms]', 'timeoutMs: 250', '(12s)', 'exit code: 4711', 'a pid'])('%s stays', (one) => {
    expect(shown(one)).toBe(one)
  })
})
