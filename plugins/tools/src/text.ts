/** Every word the pipeline says to a model. */
export const text = {
  error: (message: string): string => `Error: ${message}`,
  unknownTool: (name: string, meant: string | undefined): string => `unknown tool ${quote(name)}${didYouMean(meant)}`,
  invalid: (path: string, problem: string): string => `invalid ${path}: ${problem}`,
  unknownArgument: (path: string, meant: string | undefined): string => `unknown argument ${quote(path)}${didYouMean(meant)}`,
  notJson: (problem: string): string => `arguments must be plain JSON: ${problem}`,
  unavailable: (name: string, rows: readonly string[], waitedMs: number): string =>
    `tool ${quote(name)} is unavailable: ${rows.join(', ')} reloading (waited ${waitedMs}ms)`,
  denied: (reason: string): string => `denied: ${reason}`,
  nobodyToAsk: (reason: string): string => `denied: needs approval (${reason}), and nobody can be asked`,
  rejected: (reason: string): string => `denied: rejected by the user (${reason})`,
  approvalCancelled: 'denied: the approval was cancelled',
  policyFailed: (policy: string, message: string): string => `policy ${quote(policy)} failed: ${message}`,
  policyOverran: (policy: string, budgetMs: number): string => `policy ${quote(policy)} took longer than ${budgetMs}ms`,
  invalidResult: (name: string): string => `tool ${quote(name)} returned an invalid result`,
  blocked: (feedback: string): string => `blocked: ${feedback}`,
  aborted: 'tool call aborted',
  unprintable: '<unprintable thrown value>',
  truncated: '[result truncated]',
}

/** What keeps arguments and values from being JSON, and answers from being taken. */
export const problems = {
  is: (place: string, what: string): string => `${place} is ${what}`,
  instance: (name: string | undefined): string => (name === undefined ? 'a class instance' : `an instance of ${name}`),
  promise: 'a promise was returned where an answer is expected at once',
  cyclic: (place: string): string => `${place} contains itself`,
  unreadable: (place: string): string => `${place} cannot be read`,
  tooDeep: (levels: number): string => `it is nested deeper than ${levels} levels`,
  tooLarge: (bytes: number): string => `it is larger than ${bytes} bytes`,
  characterAt: (character: string, index: number): string => `${JSON.stringify(character)} at character ${index}`,
  notInFours: (length: number): string => `${length} characters, which is no multiple of 4`,
}

/** What a policy did wrong; the model reads it behind the policy's name. */
export const policyProblems = {
  before: 'before returned no decision',
  guard: 'guard must return a string or undefined, and at once',
  around: 'around returned no outcome',
  secondNext: 'next may be called once',
  lateNext: 'next was called after the end of the call',
  after: 'after must return undefined, or an object with one of content, value and block',
  valueOfFailed: 'after cannot give a failed call a value',
  content: 'content is not a list of at least one block',
}

/** What is no schema of a tool, and how to write one. */
export const schemaProblems = {
  input: (got: string | undefined): string =>
    `must be a strict object${got === undefined ? '' : ` of zod 4, got ${got}`}; make it with z.strictObject`,
  output: (got: string): string =>
    `must be a schema of zod 4 for what execute returns, got ${got}; make it with z.strictObject, or z.string and the like`,
  part: (place: string, got: string): string => `${place} is no schema of zod 4 but ${got}`,
  neither: 'is missing; make it with z.strictObject, or give inputSchema, which is JSON Schema',
  noTool: (got: string): string => `register(scope, tool): tool must be an object, got ${got}`,
  raw: 'must be JSON Schema, got a schema of zod; a tool with such schemas calls them input and output',
  aSchemaOfZod3: 'a schema of zod 3',
}

/** What an argument should have been: `invalid PATH: expected A, got B`. */
export const expected = {
  butGot: (wanted: string, got: string): string => `expected ${wanted}, got ${got}`,
  /** The `A` of such a message. */
  wanted: (message: string): string | undefined => /^expected (.+), got /s.exec(message)?.[1],
  type: (name: string): string => (name === 'int' ? 'an integer' : /^(null|undefined|never|nan)$/.test(name) ? name : withArticle(name)),
  values: (shown: readonly string[]): string => (shown.length === 1 ? String(shown[0]) : `one of ${shown.join(', ')}`),
  either: (wanted: readonly string[]): string => wanted.join(' or '),
  exactly: (bound: unknown): string => `exactly ${String(bound)}`,
  atLeast: (bound: unknown, inclusive: boolean): string => `${inclusive ? 'at least' : 'more than'} ${String(bound)}`,
  atMost: (bound: unknown, inclusive: boolean): string => `${inclusive ? 'at most' : 'less than'} ${String(bound)}`,
  notEmpty: 'a non-empty string',
  positive: 'a positive number',
  characters: (range: string): string => `a string of ${range} characters`,
  items: (range: string): string => `an array of ${range} items`,
  integer: (range: string): string => `an integer of ${range}`,
  number: (range: string): string => `a number of ${range}`,
  multiple: (divisor: unknown): string => `a multiple of ${String(divisor)}`,
  pattern: (pattern: unknown): string => `text that matches ${String(pattern)}`,
  format: (name: unknown): string => withArticle(`valid ${String(name)}`),
  base64: 'standard base64 with padding',
  mediaType: 'a media type such as "image/png"',
  nothing: 'nothing',
  anArray: 'an array',
  anObject: 'an object',
}

function withArticle(noun: string): string {
  return `${/^[aeiou]/.test(noun) ? 'an' : 'a'} ${noun}`
}

/** A name a model made up may be anything: escaped, and no longer than the longest name a tool can have. */
function quote(name: string): string {
  return JSON.stringify(name.length > 64 ? `${name.slice(0, 64)}…` : name)
}

function didYouMean(meant: string | undefined): string {
  return meant === undefined ? '' : `; did you mean ${quote(meant)}?`
}
