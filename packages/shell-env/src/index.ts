export type { ShellEnvContext, ShellEnvContributor } from './contributor.ts'
export { ShellEnvError, type ShellEnvErrorCode } from './errors.ts'
export { RESERVED_KEYS, validateContributor } from './keys.ts'
export { ShellEnv, type ShellEnvDeclaration } from './shell-env.ts'
