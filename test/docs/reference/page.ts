/** A generated document; the note at its top says how it is made. */
export function page(title: string, introduction: string, sections: readonly string[]): string {
  const note = '<!-- Generated from the code. To renew it: npm test -- test/docs.reference.spec.ts -u -->'
  return `${[note, `# ${title}`, introduction, ...sections].join('\n\n')}\n`
}

export function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]): string => `| ${cells.map(cell).join(' | ')} |`
  return [line(head), `|${'---|'.repeat(head.length)}`, ...rows.map(line)].join('\n')
}

export function code(text: string): string {
  return text.includes('`') ? `\`\` ${text} \`\`` : `\`${text}\``
}

function cell(text: string): string {
  return text
    .replace(/\s*\n\s*/g, ' ')
    .replaceAll('|', '\\|')
    .trim()
}
