import { isAbsolute, join, resolve } from 'node:path'

export interface BuiltInSources {
  /** From the config: absolute. */
  readonly home: string | undefined
  /** The host's own environment. */
  readonly env: Readonly<Record<string, string | undefined>>
  homedir(): string
  /** Asked only where the host's environment holds a relative path. */
  cwd(): string
}

/** Everything built in but the session, read once. Paths are absolute whatever the host says; an empty variable is as good as none. */
export function builtInVariables({ home, env, homedir, cwd }: BuiltInSources): Readonly<Record<string, string>> {
  const absolute = (path: string): string => (isAbsolute(path) ? path : resolve(cwd(), path))
  const { TENON_HOME: hostHome, TENON_PROFILE: profile, TENON_PROFILE_DIR: profileDir } = env
  return {
    TENON_SHELL: '1',
    TENON_HOME: home ?? (isSet(hostHome) ? absolute(hostHome) : join(absolute(homedir()), '.tenon')),
    ...(isSet(profile) && { TENON_PROFILE: profile }),
    ...(isSet(profile) && isSet(profileDir) && { TENON_PROFILE_DIR: absolute(profileDir) }),
  }
}

function isSet(value: string | undefined): value is string {
  return value !== undefined && value !== ''
}
