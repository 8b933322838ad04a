const CREDENTIAL_WORDS: ReadonlySet<string> = new Set([
  'KEY',
  'TOKEN',
  'SECRET',
  'PASSWORD',
  'PASSWD',
  'PASSPHRASE',
  'CREDENTIAL',
  'CREDENTIALS',
  'PAT',
  'DSN',
])

/**
 * One whole segment of the name is a word for a credential. Segments end at anything that is no letter or digit (`_`, and the `-` of
 * `INPUT_GITHUB-TOKEN`) and at a step from lower to upper case; digits at the end of a segment do not count. Whole segments, so that
 * `TOKENIZERS_PARALLELISM`, `MONKEY_PATCH`, `KEYTIMEOUT` and `MAX_TOKENS` stay.
 */
export function isCredentialName(name: string): boolean {
  const segments = name.replace(/([a-z])(?=[A-Z])/g, '$1_').split(/[^A-Za-z0-9]+/)
  return segments.some((segment) => CREDENTIAL_WORDS.has(segment.replace(/[0-9]+$/, '').toUpperCase()))
}

/** `scheme://userinfo@`; nested schemes (`jdbc:postgresql:`) included. Each step consumes its `:`, so the match is linear. */
const URL_WITH_USERINFO = /^((?:[a-z][a-z0-9+.-]*:)+)\/\/([^/?#\s]*)@/i

/** Prefixes that issuers put before their keys, with the lengths such keys have, so that `sk-learn` is not one. */
const KEY_SHAPES: readonly RegExp[] = [
  /^gh[ops]_[A-Za-z0-9]{36}/,
  /^github_pat_[A-Za-z0-9_]{82}/,
  /^glpat-[A-Za-z0-9_-]{20}/,
  /^xoxb-[A-Za-z0-9-]{40}/,
  /^sk-[A-Za-z0-9_-]{20}/,
  /^(?:AKIA|ASIA)[A-Z0-9]{16}(?![A-Za-z0-9])/,
]

/** A URL with a password in its userinfo (for http and https: any userinfo), or a key of a known issuer. */
export function isCredentialValue(value: string): boolean {
  const url = URL_WITH_USERINFO.exec(value)
  if (url !== null) {
    const [, scheme = '', userinfo = ''] = url
    if (/:./.test(userinfo)) return true
    if (userinfo !== '' && /(?:^|[+:])https?:$/i.test(scheme)) return true
  }
  return KEY_SHAPES.some((shape) => shape.test(value))
}
