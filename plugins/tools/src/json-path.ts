export type JsonPath = readonly (string | number)[]

/** `a.b[2]["odd key"]`; of the root, `arguments`. */
export function formatPath(path: JsonPath, root = 'arguments'): string {
  if (path.length === 0) return root
  let formatted = ''
  for (const part of path) {
    if (typeof part === 'number') formatted += `[${part}]`
    else if (/^[A-Za-z_$][\w$-]*$/.test(part)) formatted += formatted === '' ? part : `.${part}`
    else formatted += `[${JSON.stringify(part.length > 64 ? `${part.slice(0, 64)}…` : part)}]`
  }
  return formatted
}
