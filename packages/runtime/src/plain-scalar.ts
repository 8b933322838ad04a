import { parseDocument } from 'yaml'

/** What YAML's core schema takes for null, a boolean or a number. */
const LITERAL =
  /^(?:|~|null|Null|NULL|true|True|TRUE|false|False|FALSE|[-+]?\d+|0o[0-7]+|0x[\dA-Fa-f]+|[-+]?(?:\.\d+|\d+(?:\.\d*)?)(?:[eE][-+]?\d+)?|[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN))$/

/**
 * A text from outside a file, as the scalar that it is in full, or else as itself. Nothing in it is syntax: a password may start with
 * `#`, a pattern with `*`.
 */
export function plainScalar(text: string): string | number | boolean | null {
  return LITERAL.test(text) ? (parseDocument(text, { version: '1.2', schema: 'core' }).toJS() as number | boolean | null) : text
}
