import { DEFAULT_DENIED_NAMES, isCredentialName, MANAGED_PREFIX, overlayEnvironment, type ScrubRules, scrubEnvironment } from '@tenon/subprocess'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'

const rules: ScrubRules = { allow: [], deny: DEFAULT_DENIED_NAMES, dropNodeOptions: false }

function scrubbed(parent: Record<string, string>, change: Partial<ScrubRules> = {}, platform: NodeJS.Platform = 'linux') {
  const { env, removed } = scrubEnvironment(parent, { ...rules, ...change }, platform)
  return { env: { ...env }, removed }
}

function survives(name: string, value = 'x', change: Partial<ScrubRules> = {}): boolean {
  return name in scrubbed({ [name]: value }, change).env
}

describe('what an explicit environment does to the inherited one', () => {
  it('SP-14 an entry merges, a tombstone removes, PATH and TERM stay', () => {
    const { env } = scrubbed({ PATH: '/bin', TERM: 'xterm', LANG: 'C', HOME: '/h' })
    expect({ ...overlayEnvironment(env, { LANG: 'de', HOME: undefined, NEW: '' }, 'linux') }).toEqual({
      PATH: '/bin',
      TERM: 'xterm',
      LANG: 'de',
      NEW: '',
    })
  })

  it('SP-14 an explicit credential and an explicit managed name survive, ambient managed names of any case do not', () => {
    const { env, removed } = scrubbed({ TENON_SESSION: 'old', tenon_session: 'old', Tenon_X: '1', TENONS: 'kept' })
    expect(env).toEqual({ TENONS: 'kept' })
    expect(removed).toEqual(['TENON_SESSION', 'tenon_session', 'Tenon_X'])
    expect(MANAGED_PREFIX).toBe('TENON_')
    expect({ ...overlayEnvironment(env, { OPENAI_API_KEY: 'k', TENON_SESSION: 'new' }, 'linux') }).toEqual({
      TENONS: 'kept',
      OPENAI_API_KEY: 'k',
      TENON_SESSION: 'new',
    })
  })

  it('names that objects inherit are names like any other', () => {
    const env = overlayEnvironment(
      scrubbed({ constructor: 'a' }).env,
      JSON.parse('{"__proto__":"b","toString":"c"}') as Record<string, string>,
      'linux',
    )
    expect(Object.entries(env)).toEqual([
      ['constructor', 'a'],
      ['__proto__', 'b'],
      ['toString', 'c'],
    ])
  })
})

describe('credential names', () => {
  it.each([
    'OPENAI_API_KEY',
    'AWS_SECRET_ACCESS_KEY',
    'gh_token',
    'DB_PASSWORD',
    'GITHUB_PAT',
    'SENTRY_DSN',
    'X_CREDENTIALS',
    'KEY_PASSPHRASE',
    'npm_config__authToken',
    'PGPASSWORD',
    'API_KEY2',
    'myPassword1',
    'INPUT_GITHUB-TOKEN',
    'SERVICE_PASSWD',
    'A_CREDENTIAL',
  ])('SP-15 %s is removed', (name) => {
    expect(survives(name)).toBe(false)
  })

  it.each(['TOKENIZERS_PARALLELISM', 'KEYBOARD_LAYOUT', 'MONKEY_PATCH', 'KEYTIMEOUT', 'MAX_TOKENS', 'SSH_AUTH_SOCK', 'PATH', 'COMPAT', 'GPG_TTY'])(
    'SP-16 %s is kept',
    (name) => {
      expect(survives(name)).toBe(true)
    },
  )

  it('SP-15 a credential word is found wherever its segment stands and however it is written', () => {
    const word = fc.constantFrom('KEY', 'TOKEN', 'SECRET', 'PASSWORD', 'PASSWD', 'PASSPHRASE', 'CREDENTIAL', 'CREDENTIALS', 'PAT', 'DSN')
    const segment = fc.stringMatching(/^[A-Z]{0,6}[0-9]?$/)
    fc.assert(
      fc.property(
        fc.array(segment),
        word,
        fc.stringMatching(/^[0-9]{0,3}$/),
        fc.array(segment),
        fc.boolean(),
        (before, secret, digits, after, lower) => {
          const name = [...before, secret + digits, ...after].join('_')
          expect(isCredentialName(lower ? name.toLowerCase() : name)).toBe(true)
        },
      ),
    )
  })
})

describe('credential values', () => {
  it.each([
    'postgres://u:p@h',
    'postgres://u:p@h:5432/db?x=1',
    'jdbc:postgresql://u:p@h/db',
    'https://t@h',
    'http://u:p@h/path',
    'git+https://token@h/repo',
    `ghp_${'a'.repeat(36)}`,
    `gho_${'b'.repeat(36)}`,
    `ghs_${'c'.repeat(36)}`,
    `github_pat_${'d'.repeat(82)}`,
    `glpat-${'e'.repeat(20)}`,
    `xoxb-${'1'.repeat(12)}-${'2'.repeat(12)}-${'f'.repeat(24)}`,
    `sk-${'g'.repeat(48)}`,
    'sk-proj-abcdefghijklmnop',
    `AKIA${'A'.repeat(16)}`,
    `ASIA${'7'.repeat(16)}`,
  ])('SP-17 %s is removed under any name', (value) => {
    expect(survives('HARMLESS', value)).toBe(false)
  })

  it.each([
    'https://example.org/a@b',
    'http://localhost:8080',
    'postgres://user@h/db',
    'ssh://git@example.org',
    'postgres://h:5432/db',
    'sk-learn',
    'sk-SK',
    'AKIAMBO',
    `AKIA${'A'.repeat(17)}`,
    'ghp_short',
    'user:secret@host',
    'https://h/?q=u:p@x',
  ])('SP-17 %s is kept', (value) => {
    expect(survives('HARMLESS', value)).toBe(true)
  })

  it('a long value costs no more than its length', () => {
    const started = performance.now()
    for (const hostile of ['a:'.repeat(50_000), `${'a'.repeat(100_000)}://`, `http://${'@'.repeat(100_000)}`, `x://${':'.repeat(100_000)}`])
      survives('V', hostile)
    expect(performance.now() - started).toBeLessThan(1_000)
  })
})

describe('rules', () => {
  it('SP-18 allow and deny win over the heuristics, allow wins over deny', () => {
    expect(survives('OPENAI_API_KEY', 'x', { allow: ['OPENAI_API_KEY'] })).toBe(true)
    expect(survives('DATABASE', 'postgres://u:p@h', { allow: ['DATABASE'] })).toBe(true)
    expect(survives('HOME', 'x', { deny: ['HOME'] })).toBe(false)
    expect(survives('HOME', 'x', { deny: ['HOME'], allow: ['HOME'] })).toBe(true)
    expect(survives('openai_api_key', 'x', { allow: ['OPENAI_API_KEY'] })).toBe(false)
  })

  it('SP-18 allow never revives a managed name', () => {
    expect(survives('TENON_SESSION', 'x', { allow: ['TENON_SESSION'] })).toBe(false)
  })

  it('SP-18 removed holds names and no values', () => {
    const { removed } = scrubbed({ A_TOKEN: 'hush', B: 'https://hush@h', C: '1', BASH_ENV: '/hush', TENON_X: 'hush' })
    expect(removed).toEqual(['A_TOKEN', 'B', 'BASH_ENV', 'TENON_X'])
    expect(JSON.stringify(removed)).not.toContain('hush')
  })

  it.each(['BASH_ENV', 'ENV', 'SHELLOPTS', 'BASHOPTS', 'PS4', 'BASH_FUNC_x%%', 'BASH_FUNC_my.fn()'])(
    'SP-19 %s is absent by default, present when explicit or allowed',
    (name) => {
      expect(survives(name)).toBe(false)
      expect(survives(name, 'x', { allow: [name] })).toBe(true)
      expect(overlayEnvironment({}, { [name]: 'x' }, 'linux')[name]).toBe('x')
    },
  )

  it('SP-19 NODE_OPTIONS goes only when the rules say so', () => {
    expect(survives('NODE_OPTIONS')).toBe(true)
    expect(survives('NODE_OPTIONS', 'x', { dropNodeOptions: true })).toBe(false)
    expect(survives('NODE_OPTIONS', 'x', { dropNodeOptions: true, allow: ['NODE_OPTIONS'] })).toBe(true)
  })
})

describe('names on Windows', () => {
  it('SP-20 Path and PATH merge to one key, the explicit spelling and value win', () => {
    expect(scrubbed({ Path: 'a', PATH: 'b' }, {}, 'win32').env).toEqual({ PATH: 'b' })
    expect({ ...overlayEnvironment({ Path: 'a' }, { PATH: 'b' }, 'win32') }).toEqual({ PATH: 'b' })
    expect({ ...overlayEnvironment({ Path: 'a', X: '1' }, { PATH: undefined }, 'win32') }).toEqual({ X: '1' })
    expect({ ...overlayEnvironment({ Path: 'a' }, { PATH: 'b' }, 'linux') }).toEqual({ Path: 'a', PATH: 'b' })
  })

  it('SP-20 allow, deny and startup hooks ignore case there', () => {
    expect(scrubbed({ Bash_Env: 'x', home: 'y', My_Token: 'z' }, { deny: ['HOME'], allow: ['MY_TOKEN'] }, 'win32').env).toEqual({ My_Token: 'z' })
  })

  it('SP-20 names with dots, empty names and long values pass', () => {
    const long = 'v'.repeat(100_000)
    expect(scrubbed({ 'a.b': '1', '': '2', LONG: long }).env).toEqual({ 'a.b': '1', '': '2', LONG: long })
  })
})
