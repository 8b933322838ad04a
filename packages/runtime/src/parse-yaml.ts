// biome-ignore-all lint/suspicious/noTemplateCurlyInString: they are expressions of catalog files.
import { type Document, isAlias, isMap, isScalar, isSeq, type Node, parseDocument, Scalar, type YAMLError, type YAMLMap } from 'yaml'
import { type Diagnostic, diagnose } from './diagnostic.ts'
import { jsonFault } from './json-fault.ts'
import type { Located, LocatedEntry } from './located.ts'
import type { Place, SourceText } from './source-text.ts'

export interface ParsedYaml {
  /** Undefined for a text without content, and after a syntax error. */
  readonly root: Located | undefined
  readonly diagnostics: readonly Diagnostic[]
}

/** Values that aliases may add to one file. Ten lines of anchors can otherwise stand for a billion values. */
const ALIASED_VALUES = 10_000

/** Each costs stack, here and in whoever reads the value. The parser itself gives up at some hundreds more. */
const NESTED_LEVELS = 200
const TOO_DEEP = `nested deeper than ${NESTED_LEVELS} levels`

/** Of the core schema; the parser knows more of them, whatever schema it is given. */
const CORE_TAGS: ReadonlySet<string> = new Set([
  '!',
  ...['str', 'int', 'float', 'bool', 'null', 'map', 'seq'].map((name) => `tag:yaml.org,2002:${name}`),
])

/** YAML 1.2, core schema: no dates, no binary, no merge keys, and a tag that says otherwise is an error. */
export function parseYaml(source: SourceText): ParsedYaml {
  const document = parseDocument(source.text, {
    version: '1.2',
    schema: 'core',
    lineCounter: source.lines,
    prettyErrors: false,
    keepSourceTokens: false,
    stringKeys: true,
    // Found below instead: the library compares every pair of keys, which takes seconds for a large map.
    uniqueKeys: false,
  })
  const diagnostics = syntaxErrors(source, [...document.errors, ...document.warnings])
  const fault = source.path.endsWith('.json') ? jsonFault(source) : undefined
  // What the YAML of a JSON file has against it would be told in words of another language.
  if (fault !== undefined) return { root: undefined, diagnostics: [fault] }
  if (diagnostics.length > 0) return { root: undefined, diagnostics }
  return new Reader(source, document).read()
}

function syntaxErrors(source: SourceText, errors: readonly YAMLError[]): Diagnostic[] {
  const byLine = new Map<number, Diagnostic>()
  for (const error of errors) {
    const place = { source, start: error.pos[0], end: error.pos[1] }
    // After a slip that ends the document for the parser, every line below is one more.
    if (byLine.size > 0 && error.message.includes(' in YAML stream')) continue
    const { message, hint } = unquotedExpression(source, error.pos[0]) ?? { message: messageFor(error), hint: hintFor(error.code) }
    const diagnostic = diagnose(place, 'CATALOG_SYNTAX', message, { hint })
    // One slip often makes it stumble several times over the rest of its line.
    if (!byLine.has(diagnostic.line)) byLine.set(diagnostic.line, diagnostic)
  }
  return [...byLine.values()]
}

/** Inside braces the parser stops at the `{` behind the `$`. */
function unquotedExpression(source: SourceText, at: number): { readonly message: string; readonly hint: string } | undefined {
  const { column } = source.position(at)
  const [expression] = /^\$\{[^}]*\}/.exec(source.lineAt(at).slice(Math.max(0, column - 2))) ?? []
  return expression === undefined ? undefined : { message: 'inside { } and [ ] an expression needs quotes', hint: `write "${expression}"` }
}

function messageFor({ code, message }: YAMLError): string {
  if (/call stack/.test(message)) return TOO_DEEP
  if (code === 'NON_STRING_KEY') return 'a key is one text'
  return code === 'MULTIPLE_DOCS' ? 'a second document begins here' : message
}

function hintFor(code: string): string | undefined {
  if (code === 'TAB_AS_INDENT') return 'indent with spaces'
  if (code === 'MULTIPLE_DOCS') return 'a catalog file is one document; remove the line `---`'
  if (code === 'TAG_RESOLVE_FAILED') return NO_TAGS
  return undefined
}

const NO_MERGE = 'write the keys out, or put them into another file and name it in `extends`'
const NO_TAGS = 'tags are not part of catalog files; write the value without it'

class AliasFault extends Error {
  readonly hint: string | undefined

  constructor(message: string, hint?: string) {
    super(message)
    this.hint = hint
  }
}

class DepthFault extends Error {
  readonly place: Place

  constructor(place: Place) {
    super(TOO_DEEP)
    this.place = place
  }
}

class Reader {
  readonly #source: SourceText
  readonly #document: Document.Parsed
  readonly #diagnostics: Diagnostic[] = []
  /** Aliases being expanded, outermost first. */
  readonly #expanding: { readonly target: Node; readonly place: Place }[] = []
  #aliased = 0
  #depth = 0

  constructor(source: SourceText, document: Document.Parsed) {
    this.#source = source
    this.#document = document
  }

  read(): ParsedYaml {
    const contents: Node | null = this.#document.contents
    try {
      const empty = contents === null || (isScalar(contents) && contents.value === null)
      return { root: empty ? undefined : this.#located(contents), diagnostics: this.#diagnostics }
    } catch (error) {
      if (error instanceof DepthFault) {
        return { root: undefined, diagnostics: [...this.#diagnostics, diagnose(error.place, 'CATALOG_SYNTAX', error.message)] }
      }
      if (!(error instanceof AliasFault)) throw error
      const place = this.#expanding[0]?.place ?? this.#place(contents)
      return { root: undefined, diagnostics: [...this.#diagnostics, diagnose(place, 'CATALOG_ALIAS', error.message, { hint: error.hint })] }
    }
  }

  #located(node: Node | null, fallback?: Place): Located {
    const outer = this.#expanding[0]
    if (outer !== undefined && ++this.#aliased > ALIASED_VALUES) {
      throw new AliasFault(`aliases of this file stand for more than ${ALIASED_VALUES} values; write them out, or use \`extends\``)
    }
    if (isAlias(node)) return this.#expanded(node)
    const place = node === null ? (fallback ?? this.#place(node)) : this.#place(node)
    if (node?.tag !== undefined && !CORE_TAGS.has(node.tag)) return this.#tagged(node.tag, place)
    if (isMap(node)) return this.#inside(place, () => ({ kind: 'map', entries: this.#entries(node), place }))
    if (isSeq(node))
      return this.#inside(place, () => ({ kind: 'list', items: node.items.map((item) => this.#located(item as Node | null, place)), place }))
    const value = isScalar(node) ? (node.value as string | number | boolean | null) : null
    // `!!str ${…}` says itself what it is.
    const plain = !isScalar(node) || (node.tag === undefined && (node.type === undefined || node.type === Scalar.PLAIN))
    return { kind: 'scalar', value, plain, place }
  }

  #tagged(tag: string, place: Place): Located {
    this.#diagnostics.push(diagnose(place, 'CATALOG_SYNTAX', `a value with the tag ${tag.replace('tag:yaml.org,2002:', '!!')}`, { hint: NO_TAGS }))
    return { kind: 'scalar', value: null, plain: true, place }
  }

  #inside(place: Place, read: () => Located): Located {
    if (++this.#depth > NESTED_LEVELS) throw new DepthFault(place)
    const located = read()
    this.#depth -= 1
    return located
  }

  #entries(map: YAMLMap): ReadonlyMap<string, LocatedEntry> {
    const entries = new Map<string, LocatedEntry>()
    const merged: Located[] = []
    for (const pair of map.items) {
      const key = pair.key as Scalar
      const name = String(key.value)
      const place = this.#place(key)
      if (name === '<<' && key.type === Scalar.PLAIN) {
        this.#diagnostics.push(diagnose(place, 'CATALOG_SYNTAX', 'YAML 1.2 has no merge keys', { hint: NO_MERGE }))
        merged.push(this.#located(pair.value as Node | null, place))
        continue
      }
      const first = entries.get(name)
      if (first !== undefined) {
        const { line } = this.#source.position(first.key.start)
        this.#diagnostics.push(
          diagnose(place, 'CATALOG_DUPLICATE_KEY', `"${name}" is there already, in line ${line}`, { hint: 'keep one of the two' }),
        )
        continue
      }
      entries.set(name, { key: place, value: this.#located(pair.value as Node | null, { ...place, start: place.end }) })
    }
    // As it was meant, or what it should have brought would be missing: a second report of one fault.
    for (const source of merged.flatMap((value) => (value.kind === 'list' ? value.items : [value]))) {
      if (source.kind === 'map') for (const [name, brought] of source.entries) if (!entries.has(name)) entries.set(name, brought)
    }
    return entries
  }

  #expanded(alias: Node & { source: string; resolve(document: Document.Parsed): Node | undefined }): Located {
    const target = alias.resolve(this.#document)
    const place = this.#place(alias)
    this.#expanding.push({ target: target ?? alias, place })
    if (target === undefined) {
      throw new AliasFault(`there is no anchor &${alias.source} before this alias`, `if it is a text, write it in quotes: '*${alias.source}'`)
    }
    if (this.#expanding.filter((other) => other.target === target).length > 1) throw new AliasFault(`&${alias.source} contains itself`)
    const located = this.#located(target)
    this.#expanding.pop()
    return located
  }

  #place(node: Node | null): Place {
    const [start, end] = node?.range ?? [0, 0]
    return { source: this.#source, start, end }
  }
}
