import { COOKIE_VARIABLE, MANAGED_PREFIX } from '@tenon/subprocess'
import type { ShellEnvContributor } from './contributor.ts'
import { ShellEnvError } from './errors.ts'

/** Keys no contributor may declare: the built-in ones, and the one by which processes are found. */
export const RESERVED_KEYS: readonly string[] = [
  'TENON_HOME',
  'TENON_SHELL',
  'TENON_SESSION_ID',
  'TENON_PROFILE',
  'TENON_PROFILE_DIR',
  COOKIE_VARIABLE,
]

const NAME = /^[a-z][a-z0-9]*(-[a-z0-9]+)*$/
const KEY = new RegExp(`^${MANAGED_PREFIX}[A-Z][A-Z0-9_]*$`)

/** What can be said of a contributor by itself. Pure. @throws ShellEnvError NAME_INVALID, KEY_INVALID, KEY_RESERVED */
export function validateContributor(contributor: ShellEnvContributor): void {
  const { name, variables } = contributor
  if (typeof name !== 'string' || !NAME.test(name)) {
    throw new ShellEnvError(
      'NAME_INVALID',
      `shell-env contributor name ${JSON.stringify(name)} is not one kebab-case word; write it like "web-console"`,
    )
  }
  for (const [key, description] of Object.entries(variables)) {
    if (!KEY.test(key)) {
      throw new ShellEnvError(
        'KEY_INVALID',
        `shell-env contributor "${name}": ${key} is not a managed variable; write it like ${MANAGED_PREFIX}CONSOLE_URL`,
      )
    }
    if (RESERVED_KEYS.includes(key)) {
      throw new ShellEnvError('KEY_RESERVED', `shell-env contributor "${name}": ${key} is built in; choose another name`)
    }
    if (typeof description !== 'string' || description.trim() === '') {
      throw new ShellEnvError('KEY_INVALID', `shell-env contributor "${name}": ${key} has no description; say what the variable tells a command`)
    }
  }
}
