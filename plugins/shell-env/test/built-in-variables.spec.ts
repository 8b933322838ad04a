import { describe, expect, it } from 'vitest'
import { type BuiltInSources, builtInVariables } from '../src/built-in-variables.ts'

const sources = (more: Partial<BuiltInSources> = {}): BuiltInSources => ({
  home: undefined,
  env: {},
  homedir: () => '/u/ada',
  cwd: () => '/srv',
  ...more,
})

describe('built-in variables', () => {
  it.each([
    ['the config before everything', { home: '/etc/tenon', env: { TENON_HOME: '/host' } }, '/etc/tenon'],
    ["the host's own before the default", { env: { TENON_HOME: '/host' } }, '/host'],
    ["the host's own made absolute", { env: { TENON_HOME: 'rel/home' } }, '/srv/rel/home'],
    ['the default', {}, '/u/ada/.tenon'],
    ['the default where the host has an empty one', { env: { TENON_HOME: '' } }, '/u/ada/.tenon'],
    ['an absolute default where the home of the user is not', { homedir: () => 'ada' }, '/srv/ada/.tenon'],
  ])('SH-49 TENON_HOME: %s', (_what, more, home) => expect(builtInVariables(sources(more)).TENON_HOME).toBe(home))

  it.each([
    ['no profile', {}, {}],
    ['a profile', { TENON_PROFILE: 'work' }, { TENON_PROFILE: 'work' }],
    ['a profile and its directory', { TENON_PROFILE: 'work', TENON_PROFILE_DIR: 'p' }, { TENON_PROFILE: 'work', TENON_PROFILE_DIR: '/srv/p' }],
    ['a directory without a profile, which was left behind', { TENON_PROFILE_DIR: '/p' }, {}],
  ])('SH-49 with %s', (_what, env, profile) => {
    const { TENON_HOME, TENON_SHELL, ...rest } = builtInVariables(sources({ env }))
    expect({ TENON_HOME, TENON_SHELL }).toEqual({ TENON_HOME: '/u/ada/.tenon', TENON_SHELL: '1' })
    expect(rest).toEqual(profile)
  })

  it('SH-49 a deleted directory of the host matters only to relative paths', () => {
    const cwd = (): never => {
      throw new Error('ENOENT: uv_cwd')
    }
    expect(builtInVariables(sources({ cwd, env: { TENON_HOME: '/host' } })).TENON_HOME).toBe('/host')
  })
})
