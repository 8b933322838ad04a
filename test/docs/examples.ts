import { spawn } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import ts from 'typescript'
import { fencesIn } from './markdown.ts'

const root = dirname(dirname(dirname(fileURLToPath(import.meta.url))))
/** For an example that waits for something: far more than one needs. */
const DEADLINE_MS = 20_000

/** A `ts` fence: a module of its own. */
export interface Example {
  /** `path:line` of its first line. */
  readonly place: string
  /** Of the module without its ending. */
  readonly name: string
  readonly code: string
}

export function examplesIn(path: string, markdown: string): readonly Example[] {
  return fencesIn(markdown).flatMap(({ info, line, text }) => {
    if (info !== 'ts') return []
    const name = `${path.replace(/[^A-Za-z0-9]+/g, '-')}-${line}`
    // As many empty lines before it as in the document, so that every message gives the document's line.
    return [{ place: `${path}:${line}`, name, code: `${'\n'.repeat(line - 1)}${text}\n` }]
  })
}

/** The examples as programs: in a folder inside `test`, whose package depends on every other. */
export class ExamplePrograms implements Disposable {
  readonly #folder: string

  constructor(readonly examples: readonly Example[]) {
    const cache = join(root, 'test', '.cache')
    mkdirSync(cache, { recursive: true })
    this.#folder = mkdtempSync(join(cache, 'examples-'))
    writeFileSync(join(this.#folder, 'package.json'), '{ "type": "module" }')
    writeFileSync(join(this.#folder, 'tsconfig.json'), '{ "extends": "../../../tsconfig.test.json", "include": ["*.ts"] }')
    const compilerOptions = { target: ts.ScriptTarget.ES2022, module: ts.ModuleKind.ESNext, experimentalDecorators: true, verbatimModuleSyntax: true }
    for (const { name, code } of examples) {
      writeFileSync(join(this.#folder, `${name}.ts`), code)
      writeFileSync(join(this.#folder, `${name}.js`), ts.transpileModule(code, { compilerOptions }).outputText)
    }
  }

  /** What the compiler says, in the words `path:line … message`; empty if nothing. */
  async compile(): Promise<string> {
    const tsc = join(root, 'node_modules', 'typescript7', 'bin', 'tsc')
    const { output } = await this.#node([tsc, '-p', this.#folder, '--pretty', 'false'])
    return this.examples.reduce((said, { name, place }) => said.replaceAll(`${name}.ts(`, `${place.slice(0, place.lastIndexOf(':'))}(`), output)
  }

  /** Runs one against what is built, as its reader would. It has to end by itself: what keeps it alive, it has leaked. */
  async run({ name }: Example): Promise<{ exitCode: number | null; timedOut: boolean; output: string }> {
    return await this.#node([join(this.#folder, `${name}.js`)])
  }

  async #node(argv: readonly string[]): Promise<{ exitCode: number | null; timedOut: boolean; output: string }> {
    const child = spawn(process.execPath, argv, { cwd: this.#folder, stdio: ['ignore', 'pipe', 'pipe'] })
    let output = ''
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding('utf8').on('data', (text: string) => {
        output += text
      })
    }
    let timedOut = false
    const deadline = setTimeout(() => {
      timedOut = true
      child.kill('SIGKILL')
    }, DEADLINE_MS)
    const exitCode = await new Promise<number | null>((resolve) => child.once('close', resolve))
    clearTimeout(deadline)
    return { exitCode, timedOut, output }
  }

  [Symbol.dispose](): void {
    rmSync(this.#folder, { recursive: true, force: true })
  }
}
