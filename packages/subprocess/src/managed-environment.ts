/** Variables that begin so, in any case, are the runtime's own: an inherited one never reaches a child, an explicit one always does. */
export const MANAGED_PREFIX = 'TENON_'

/** Carries the cookie that marks every process of one spawn. The only name an explicit entry may not set or remove. */
export const COOKIE_VARIABLE = 'TENON_PROCESS'

export function isManaged(name: string): boolean {
  return name.length >= MANAGED_PREFIX.length && name.slice(0, MANAGED_PREFIX.length).toUpperCase() === MANAGED_PREFIX
}
