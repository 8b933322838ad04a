/** A fenced block of a Markdown file. */
export interface Fence {
  /** All that stands behind the opening fence. */
  readonly info: string
  /** Of the first line inside, counted from 1. */
  readonly line: number
  readonly text: string
}

/** Fences at any indentation, such as in a list; their text loses it. */
export function fencesIn(markdown: string): readonly Fence[] {
  const found: Fence[] = []
  let open: { mark: string; indent: number; info: string; line: number; lines: string[] } | undefined
  for (const [index, line] of markdown.split('\n').entries()) {
    const [, indent = '', mark = '', info = ''] = /^(\s*)(`{3,}|~{3,})(.*)$/.exec(line) ?? []
    if (!open) {
      if (mark) open = { mark, indent: indent.length, info: info.trim(), line: index + 2, lines: [] }
    } else if (mark.startsWith(open.mark) && info.trim() === '') {
      found.push({ info: open.info, line: open.line, text: open.lines.join('\n') })
      open = undefined
    } else {
      open.lines.push(line.slice(Math.min(open.indent, line.search(/\S|$/))))
    }
  }
  if (open) throw new Error(`the fence before line ${open.line} is never closed`)
  return found
}

/** Targets of links to files of the repository, as they stand, without their anchors. */
export function fileLinksIn(markdown: string): readonly string[] {
  const prose = markdown.replace(/^(\s*)(`{3,})[\s\S]*?^\s*\2/gm, '').replace(/`[^`\n]*`/g, '')
  const targets = [...prose.matchAll(/\]\(<?([^)\s>]+)>?(?:\s+"[^"]*")?\)/g)].flatMap(([, target = '']) => target.split('#', 1))
  return targets.filter((target) => target !== '' && !/^[a-z]+:/.test(target))
}

/** The documents whose examples are tested. */
export function isDocument(path: string): boolean {
  return /^(README|CONTRIBUTING)\.md$|^(packages|plugins)\/[^/]+\/README\.md$|^catalog\/README\.md$|^docs\/.*\.md$/.test(path)
}
