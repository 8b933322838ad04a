import path from 'node:path'
import type { Composition, CompositionRow } from '@tenon/runtime'

/** The row whose code stands nearest to where an error was thrown, and the place there; undefined if the stack names none. */
export function originOf(error: unknown, composition: Composition | undefined): string | undefined {
  const frames = error instanceof Error ? (error.stack ?? '').split('\n').filter((line) => /^\s+at /.test(line)) : []
  for (const frame of frames) {
    const rows = composition?.rows.filter((row) => isIn(frame, row)) ?? []
    if (rows.length > 0) return `row ${rows.map(({ id }) => `"${id}"`).join(' or ')}, ${placeIn(frame)}`
  }
  return undefined
}

/** Of a line of a stack: `at name (place)`, or `at place`; a place may hold parentheses itself. */
export function placeIn(frame: string): string {
  const rest = frame.replace(/^\s+at (async )?/, '')
  const place = rest.endsWith(')') ? rest.slice(rest.indexOf(' (') + 2, -1) : rest
  return place.replace(/^file:\/\//, '')
}

function isIn(frame: string, { loaded }: CompositionRow): boolean {
  if (loaded === undefined) return false
  const { source, files } = loaded
  if ([...files.keys()].some((file) => frame.includes(file))) return true
  const slashes = frame.replaceAll('\\', '/')
  switch (source.kind) {
    case 'path':
      return frame.includes(source.path)
    case 'package':
      return slashes.includes(`/node_modules/${packageOf(source.name)}/`)
    case 'first-party':
      return slashes.includes(`/plugins/${source.name}/`) || slashes.includes(`/@tenon/plugin-${source.name}/`)
  }
}

/** Of a specifier that may go on behind the name. */
function packageOf(specifier: string): string {
  return path.posix.join(...specifier.split('/').slice(0, specifier.startsWith('@') ? 2 : 1))
}
