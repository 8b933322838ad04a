import { fileURLToPath } from 'node:url'
import ts from 'typescript'
import { describe, expect, it } from 'vitest'

const FILE = fileURLToPath(new URL('./does-not-compile.ts', import.meta.url))
const CONFIG = fileURLToPath(new URL('../../../tsconfig.test.json', import.meta.url))

/** The lines that have errors when the file is compiled with this text in its place. */
function errorsOf(text: string): { readonly line: number; readonly message: string }[] {
  const config = ts.getParsedCommandLineOfConfigFile(CONFIG, undefined, {
    ...ts.sys,
    onUnRecoverableConfigFileDiagnostic: (diagnostic) => {
      throw new Error(ts.flattenDiagnosticMessageText(diagnostic.messageText, '\n'))
    },
  })
  if (config === undefined) throw new Error(`${CONFIG} cannot be read`)
  const host = ts.createCompilerHost(config.options)
  const read = host.getSourceFile.bind(host)
  host.getSourceFile = (name, options, ...rest) => (name === FILE ? ts.createSourceFile(name, text, options) : read(name, options, ...rest))
  const program = ts.createProgram([FILE], config.options, host)
  const source = program.getSourceFile(FILE)
  return [...program.getSyntacticDiagnostics(source), ...program.getSemanticDiagnostics(source)].map(({ start = 0, messageText }) => ({
    line: source?.getLineAndCharacterOfPosition(start).line ?? -1,
    message: ts.flattenDiagnosticMessageText(messageText, '\n'),
  }))
}

describe('what does not compile', () => {
  const text = ts.sys.readFile(FILE) ?? ''
  const lines = text.split('\n')
  const marked = lines.flatMap((line, index) => (line.includes('// @ts-expect-error') ? [index] : []))

  it('KN-38 every marked mistake is an error, and nothing else in the file is', () => {
    expect(marked.length).toBeGreaterThan(30)
    expect(errorsOf(text)).toEqual([])
  })

  it('KN-38 without its mark each mistake is reported on its own line, and says what is wrong', () => {
    const bare = lines.map((line) => line.replace('// @ts-expect-error', '// expected:')).join('\n')
    const errors = errorsOf(bare)
    const wrong = marked
      .filter((index) => !errors.some(({ line }) => line === index + 1))
      .map((index) => `no error after line ${index + 1}: ${lines[index]?.trim()}`)
    const stray = errors.filter(({ line }) => !marked.includes(line - 1)).map(({ line, message }) => `stray error in line ${line + 1}: ${message}`)
    expect([...wrong, ...stray]).toEqual([])
  })
})
