/** A fenced block of a transcript: something that is done, or something that is expected. */
export interface Step {
  /** The first word behind the opening fence. */
  readonly kind: string
  /** The other words. */
  readonly words: readonly string[]
  readonly text: string
  /** Of the opening fence, counted from 1. */
  readonly line: number
}

/** What stands under one heading of the second level, heading included; prose as it is. */
export interface Story {
  readonly title: string
  readonly pieces: readonly (string | Step)[]
}

export interface Transcript {
  /** What stands before the first story. */
  readonly preface: Story
  readonly stories: readonly Story[]
}

/** @throws Error for a fence that is never closed */
export function parseTranscript(markdown: string): Transcript {
  const parts: { title: string; pieces: (string | Step)[] }[] = [{ title: '', pieces: [] }]
  let prose: string[] = []
  let open: { info: string; line: number; lines: string[] } | undefined
  const add = (...pieces: (string | Step)[]): void => void parts.at(-1)?.pieces.push(...pieces)
  const endProse = (): void => {
    if (prose.length > 0) add(prose.join('\n'))
    prose = []
  }
  for (const [index, line] of markdown.split('\n').entries()) {
    if (open !== undefined) {
      if (line !== '```') open.lines.push(line)
      else {
        const [kind = '', ...words] = open.info.split(/\s+/)
        add({ kind, words, text: open.lines.join('\n'), line: open.line })
        open = undefined
      }
    } else if (line.startsWith('```')) {
      endProse()
      open = { info: line.slice(3).trim(), line: index + 1, lines: [] }
    } else {
      if (line.startsWith('## ')) {
        endProse()
        parts.push({ title: line.slice(3).trim(), pieces: [] })
      }
      prose.push(line)
    }
  }
  if (open !== undefined) throw new Error(`line ${open.line}: the fence is never closed`)
  endProse()
  const [preface = { title: '', pieces: [] }, ...stories] = parts
  return { preface, stories }
}

export function renderTranscript({ preface, stories }: Transcript): string {
  return [preface, ...stories].map(renderStory).join('\n')
}

export function renderStory({ pieces }: Story): string {
  return pieces.map((piece) => (typeof piece === 'string' ? piece : renderStep(piece))).join('\n')
}

function renderStep({ kind, words, text }: Step): string {
  return ['```', [kind, ...words].join(' '), text === '' ? '' : `\n${text}`, '\n```'].join('')
}
