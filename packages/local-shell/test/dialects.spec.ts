import { describe, expect, it } from 'vitest'
import { bash, type Launch, pwsh } from '../src/index.ts'

const PREAMBLE = 'try{[Console]::OutputEncoding=$OutputEncoding=[Text.UTF8Encoding]::new($false)}catch{$null=0};'
const EPILOGUE = ';if($?){exit 0};try{if($LASTEXITCODE){exit $LASTEXITCODE}}catch{};exit 1'

function fileOf(launch: Launch): Extract<Launch, { form: 'file' }> {
  if (launch.form !== 'file') throw new Error('is an argument')
  return launch
}

describe('the bash dialect', () => {
  it('SH-26 hands the text over as one argument, untouched', () => {
    const text = `a 'b' "c" \`d\` $e \\ ! \t\r\n`
    expect(bash.launch(text, 'linux')).toEqual({ form: 'argument', args: ['--norc', '-c', text] })
    expect(bash.launch('', 'linux')).toEqual({ form: 'argument', args: ['--norc', '-c', ''] })
  })

  it('SH-26 a text that looks like an option is marked as none', () => {
    expect(bash.launch('-x', 'linux')).toMatchObject({ args: ['--norc', '-c', '--', '-x'] })
    expect(bash.launch('+x', 'linux')).toMatchObject({ args: ['--norc', '-c', '--', '+x'] })
  })

  it('SH-27 counts bytes of UTF-8 on POSIX', () => {
    expect(bash.launch('x'.repeat(96 * 1024), 'linux').form).toBe('argument')
    expect(bash.launch('x'.repeat(96 * 1024 + 1), 'darwin').form).toBe('file')
    expect(bash.launch('≤'.repeat(32 * 1024), 'linux').form).toBe('argument')
    expect(bash.launch(`${'≤'.repeat(32 * 1024)}x`, 'linux').form).toBe('file')
  })

  it('SH-27 the file is evaluated whole, final newlines included, wherever it lies', () => {
    const file = fileOf(bash.launch(`${'x'.repeat(100_000)}\\\n\n`, 'linux'))
    expect(file).toMatchObject({ extension: 'sh', contents: `${'x'.repeat(100_000)}\\\n\n.` })
    expect(file.args("/tmp/it's/1.sh")).toEqual([
      '--norc',
      '-c',
      `BASH_EXECUTION_STRING=$(<'/tmp/it'\\''s/1.sh') || exit 126; eval -- "\${BASH_EXECUTION_STRING%?}"`,
    ])
  })

  it('SH-38 on Windows the limit is 24,000 UTF-16 units after quoting', () => {
    const forms = (...texts: string[]): string[] => texts.map((text) => bash.launch(text, 'win32').form)
    expect(forms('x'.repeat(24_000), 'x'.repeat(24_001))).toEqual(['argument', 'file'])
    expect(forms('≤'.repeat(24_000), '🛑'.repeat(12_001))).toEqual(['argument', 'file'])
    // A blank takes two quotes, a quote a backslash, and so does each backslash of a run before a quote.
    expect(forms(`x ${'x'.repeat(23_996)}`, `x ${'x'.repeat(23_997)}`)).toEqual(['argument', 'file'])
    expect(forms('"'.repeat(11_999), '"'.repeat(12_000))).toEqual(['argument', 'file'])
    expect(forms(`${'\\'.repeat(11_998)}"`, `${'\\'.repeat(11_999)}"`)).toEqual(['argument', 'file'])
    expect(forms(` ${'\\'.repeat(11_998)}`, ` ${'\\'.repeat(11_999)}`)).toEqual(['argument', 'file'])
    expect(forms(` ${'\\'.repeat(20_000)}x`)).toEqual(['argument'])
  })
})

describe('the pwsh dialect', () => {
  it('SH-33 the argv is exactly as stated', () => {
    expect(pwsh.launch('Get-Date', 'linux')).toEqual({
      form: 'argument',
      args: ['-NoLogo', '-NoProfile', '-NonInteractive', '-Command', `${PREAMBLE}Get-Date\n${EPILOGUE}`],
    })
    expect(pwsh.env).toEqual({ NO_COLOR: '1', PAGER: 'cat', GIT_PAGER: 'cat', GIT_TERMINAL_PROMPT: '0' })
  })

  it('SH-34 the preamble stands on the first line of the text, and neither it nor the epilogue can close a quote', () => {
    expect(PREAMBLE).not.toMatch(/[\n'"`#]/)
    expect(EPILOGUE).not.toMatch(/['"`#]/)
  })

  it.each([
    'param($a = 1) $a',
    '  PARAM (\n$a)\n$a',
    'using namespace System.Text\n[Encoding]::UTF8',
    '#requires -Version 5\n1',
    '# a comment\n#Requires -Version 5\n1',
    '<# help\n#> [CmdletBinding()] param()\n1',
    '[CmdletBinding( )]\nparam()',
    '\r\n# x\r\n\tusing module Foo',
    'begin { 1 } process { 2 }',
    'end { 1 }',
  ])('SH-35 what must stand first runs as a script: %j', (text) => {
    const file = fileOf(pwsh.launch(text, 'linux'))
    expect(file.extension).toBe('ps1')
    expect(file.contents.startsWith(`\uFEFF${text}\n`)).toBe(true)
    expect(file.args("/tmp/it's/1.ps1")).toEqual([
      '-NoLogo',
      '-NoProfile',
      '-NonInteractive',
      '-Command',
      `${PREAMBLE}& '/tmp/it''s/1.ps1'\n${EPILOGUE}`,
    ])
  })

  it.each([
    "[Console]::Error.WriteLine('p')",
    '[int]$n = 3; $n',
    '[System.Collections.Generic.List[int]]::new()',
    '$param = 1',
    'parameter',
    '# param(\n1',
    '<# using #> 1',
    "'#requires'",
    'process',
    '# only a comment',
    '',
  ])('SH-35 other text is an argument: %j', (text) => expect(pwsh.launch(text, 'linux').form).toBe('argument'))

  it('SH-35 a script ends with the epilogue, except after named blocks, where nothing may stand', () => {
    expect(fileOf(pwsh.launch('param($a)\nGet-Item nope # why', 'linux')).contents).toBe(`\uFEFFparam($a)\nGet-Item nope # why\n${EPILOGUE}`)
    expect(fileOf(pwsh.launch('param($a) process { $a }', 'linux')).contents).toBe('\uFEFFparam($a) process { $a }\n')
  })

  it('SH-35 typographic quotes in a path are quotes to PowerShell', () => {
    expect(fileOf(pwsh.launch('param()', 'linux')).args('/tmp/a‘b’c')[4]).toContain(`& '/tmp/a‘‘b’’c'\n`)
  })

  it('SH-38 a text of 24,001 units on Windows is a script, and only there the policy of scripts is set aside', () => {
    const around = PREAMBLE.length + 1 + EPILOGUE.length + 2
    expect(pwsh.launch('x'.repeat(24_000 - around), 'win32').form).toBe('argument')
    const file = fileOf(pwsh.launch('x'.repeat(24_001 - around), 'win32'))
    expect(file.args('C:\\t\\1.ps1').slice(0, 6)).toEqual(['-NoLogo', '-NoProfile', '-NonInteractive', '-ExecutionPolicy', 'Bypass', '-Command'])
    expect(fileOf(pwsh.launch('param()', 'linux')).args('/t/1.ps1')).not.toContain('-ExecutionPolicy')
  })

  it('SH-35 looking for the first token takes no time, however long the text', () => {
    const text = `${'# comment\n'.repeat(200_000)}${' '.repeat(1_000_000)}<# ${'x'.repeat(1_000_000)}`
    const started = performance.now()
    expect(pwsh.launch(text, 'linux').form).toBe('file')
    expect(performance.now() - started).toBeLessThan(5_000)
  })
})
