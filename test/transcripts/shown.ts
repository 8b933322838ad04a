import { setImmediate as turn } from 'node:timers/promises'
import type { JsonSchema, ToolResult, ToolView } from '@tenon/tools'
import type { World } from './world.ts'

/** What the model reads of a result. */
export function shownResult({ content }: ToolResult): string {
  return content.map((block) => (block.type === 'text' ? block.text : `<${block.type}>`)).join('\n')
}

/** What hosts get besides: the value, or the code and its details. One fact a line. */
export function shownFacts(result: ToolResult): string {
  const { isError } = result
  const facts = isError ? { code: result.code, ...(result.details as object | undefined) } : (result.value as object)
  return Object.entries(facts)
    .map(([name, value]) => `${name}: ${JSON.stringify(value)}`)
    .join('\n')
}

/** What the model reads of a tool: its description, then a line per argument. */
export function shownSchema(view: ToolView | undefined): string {
  if (view === undefined) return '(no such tool)'
  const { properties = {}, required = [] } = view.inputSchema as { properties?: Record<string, JsonSchema>; required?: readonly string[] }
  const fields = Object.entries(properties).map(
    ([name, { type, description }]) => `${name}${required.includes(name) ? '' : '?'} (${String(type)}): ${String(description)}`,
  )
  return [view.description, '', ...fields].join('\n')
}

/** What happened to jobs since the last time. */
export function shownEvents(world: World): string {
  const lines = world.events.splice(0).map((event) => {
    const { id, status, detail, attachment, stop } = event.job
    switch (event.type) {
      case 'registered':
        return `${id} registered, ${attachment}`
      case 'stopping':
        return `${id} stopping: ${stop?.text} (by ${stop?.by})`
      case 'settled':
        return `${id} settled: ${status}, ${detail.outcome} (${event.cause}${event.awaited ? ', awaited' : ''})`
      default:
        return `${id} ${event.type}`
    }
  })
  return lines.length === 0 ? '(nothing)' : lines.join('\n')
}

/** What hosts were told of the tools since the last time: a tool that is never removed is never absent. */
export async function shownChanges({ changes }: World): Promise<string> {
  for (let turns = 0; turns < 3; turns++) await turn()
  const lines = changes.splice(0).map((change) =>
    (['added', 'removed', 'replaced'] as const)
      .filter((how) => change[how].length > 0)
      .map((how) => `${how} ${change[how].join(', ')}`)
      .join('; '),
  )
  return lines.length === 0 ? '(nothing)' : lines.join('\n')
}

/** What a session was told since the last time, message by message. */
export async function shownNotices(world: World, session: string): Promise<string> {
  // Whoever tells them does so a turn after the settlement; no notice is due any more when it was told.
  for (let more = true; more; ) {
    for (let turns = 0; turns < 3; turns++) await turn()
    more = world.hasNotices && world.jobs.dueNotices().length > 0
  }
  const messages = world.session(session).notices.drain()
  return messages.length === 0 ? '(none)' : messages.map(({ text }, index) => `message ${index + 1}:\n${text}`).join('\n\n')
}

/** What was logged for people to look at since the last time. */
export function shownLog({ log }: World): string {
  const lines = log.splice(0).filter(({ level }) => level === 'warn' || level === 'error')
  return lines.length === 0 ? '(nothing)' : lines.map(({ level, message, fields: { code } }) => `${level} ${code ?? ''}: ${message}`).join('\n')
}
