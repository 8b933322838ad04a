// biome-ignore-all lint/suspicious/noTemplateCurlyInString: they are expressions of catalog files.
import { didYouMean } from '@tenon/kernel'
import { type Diagnostic, diagnose } from './diagnostic.ts'
import type { Located, LocatedScalar } from './located.ts'
import { plainScalar } from './plain-scalar.ts'
import type { Place } from './source-text.ts'

export type Environment = Readonly<Record<string, string | undefined>>

/** `$${env:…}` and `$${catalog:…}` stand for the text without the first dollar. */
const EXPRESSION = /\$?\$\{(env|catalog):([^}]*)\}/g
const WHOLE = /^\$\{(?:env|catalog):[^}]*\}$/
const LIKELY_MEANT = /\$\{([a-z]+):[^}]*\}/gi
const NAME = /^[A-Za-z_][A-Za-z0-9_]*$/

/** Whether all of a text is one expression. */
export function isExpression(text: string): boolean {
  return WHOLE.test(text)
}

/**
 * Replaces `${env:NAME}`, `${env:NAME:-default}` and `${catalog:dir}` in every scalar. The default stands for a variable that is
 * unset or empty, as in a shell. Nothing else is an expression: `${HOME}` and `$(date)` stay text.
 */
export function expand(node: Located, env: Environment, report: (diagnostic: Diagnostic) => void): Located {
  switch (node.kind) {
    case 'map':
      return {
        ...node,
        entries: new Map([...node.entries].map(([key, { key: at, value }]) => [key, { key: at, value: expand(value, env, report) }])),
      }
    case 'list':
      return { ...node, items: node.items.map((item) => expand(item, env, report)) }
    case 'scalar':
      return typeof node.value === 'string' && node.value.includes('${') ? expandScalar(node, node.value, env, report) : node
  }
}

function expandScalar(node: LocatedScalar, text: string, env: Environment, report: (diagnostic: Diagnostic) => void): LocatedScalar {
  const { place } = node
  const expanded = text.replace(EXPRESSION, (expression: string, kind: string, body: string) => {
    if (expression.startsWith('$$')) return expression.slice(1)
    const fault = (problem: Problem): string => {
      report(diagnose(within(place, expression), problem.code, problem.message, { hint: problem.hint }))
      return ''
    }
    if (kind === 'env') return expandEnv(body, env, fault)
    return body === 'dir' ? place.source.folder : fault(unknownExpression(expression, 'the only one of its kind is ${catalog:dir}'))
  })
  for (const [expression, kind = ''] of text.matchAll(LIKELY_MEANT)) warnIfMisspelt(expression, kind, place, report)
  const value = node.plain && isExpression(text) ? plainScalar(expanded) : expanded
  return expanded === text ? node : { ...node, value, written: text }
}

interface Problem {
  readonly code: 'EXPRESSION_INVALID' | 'ENV_MISSING'
  readonly message: string
  readonly hint: string
}

function expandEnv(body: string, env: Environment, fault: (problem: Problem) => string): string {
  const split = body.indexOf(':-')
  const name = split === -1 ? body : body.slice(0, split)
  const fallback = split === -1 ? undefined : body.slice(split + 2)
  if (!NAME.test(name)) return fault(unknownExpression(`\${env:${body}}`, 'write ${env:NAME} or ${env:NAME:-default}'))
  const value = Object.hasOwn(env, name) ? env[name] : undefined
  if (fallback !== undefined) return value === undefined || value === '' ? fallback : value
  if (value !== undefined) return value
  return fault({
    code: 'ENV_MISSING',
    message: `the environment variable ${name} is not set`,
    hint: `set it, or give a default: \${env:${name}:-default}`,
  })
}

function unknownExpression(expression: string, hint: string): Problem {
  return { code: 'EXPRESSION_INVALID', message: `${expression} is not an expression`, hint }
}

function warnIfMisspelt(expression: string, kind: string, place: Place, report: (diagnostic: Diagnostic) => void): void {
  if (kind === 'env' || kind === 'catalog') return
  const meant = didYouMean(kind, ['env', 'catalog'])
  if (meant === undefined) return
  report(
    diagnose(within(place, expression), 'EXPRESSION_INVALID', `${expression} is not an expression and stays as it is`, {
      hint: `did you mean \${${meant}:${expression.slice(expression.indexOf(':') + 1)}?`,
      severity: 'warning',
    }),
  )
}

/** The expression itself where the source has it as it is; else (escapes, folded lines) the whole scalar. */
function within(place: Place, expression: string): Place {
  const offset = place.source.text.slice(place.start, place.end).indexOf(expression)
  return offset === -1 ? place : { ...place, start: place.start + offset, end: place.start + offset + expression.length }
}
