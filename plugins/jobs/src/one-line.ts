export const LABEL_CHARACTERS = 120
export const REASON_CHARACTERS = 200
/** Of what a producer says of its end; an error message may be of any length. */
export const OUTCOME_CHARACTERS = 400

/** The first line on which something can be seen, control characters as spaces, at most so many characters, the last of them `…` if it was cut. */
export function oneLine(text: string, most: number): string {
  const line = firstLine(text)
  // Cut before it is walked through by character: a label can be a megabyte.
  const start = clean(line.slice(0, most * 2 + 2))
  const characters = [...start]
  return characters.length > most || line.length > most * 2 + 2 ? `${characters.slice(0, most - 1).join('')}…` : start
}

function firstLine(text: string): string {
  const start = text.search(/[^\s\p{Cc}]/u)
  if (start < 0) return ''
  const end = text.slice(start).search(/[\r\n\u2028\u2029]/)
  return (end < 0 ? text.slice(start) : text.slice(start, start + end)).trimEnd()
}

function clean(line: string): string {
  return line.replace(/\p{Cc}/gu, ' ').replace(/\p{Surrogate}/gu, '\ufffd')
}
