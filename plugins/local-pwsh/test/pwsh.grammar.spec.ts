import { createRequire } from 'node:module'
import { pwsh } from '@tenon/local-shell'
import { beforeAll, describe, expect, it } from 'vitest'
import { Language, type Node, Parser } from 'web-tree-sitter'

/** Where no PowerShell is, a grammar of it tells whether what it would be given is a script at all. */
describe('generated scripts under a grammar of PowerShell', () => {
  let parser: Parser
  beforeAll(async () => {
    await Parser.init()
    parser = new Parser()
    parser.setLanguage(await Language.load(createRequire(import.meta.url).resolve('tree-sitter-powershell/tree-sitter-powershell.wasm')))
  })

  const faultsOf = (script: string): string[] => {
    const tree = parser.parse(script)
    if (tree === null) throw new Error('the parser gave up')
    const faults: string[] = []
    const visit = (node: Node): void => {
      if (node.isError || node.isMissing) faults.push(`${node.type}: ${node.text.slice(0, 80)}`)
      else if (node.hasError) for (const child of node.children) if (child !== null) visit(child)
    }
    visit(tree.rootNode)
    return faults
  }

  /** What PowerShell reads: the argument of -Command, and the script if there is one. */
  const scriptsOf = (command: string, platform: NodeJS.Platform): string[] => {
    const launch = pwsh.launch(command, platform)
    const args = launch.form === 'argument' ? launch.args : launch.args("C:\\it's\\1.ps1")
    return [args.at(-1) ?? '', ...(launch.form === 'file' ? [launch.contents.replace(/^\uFEFF/, '')] : [])]
  }

  it('SH-33 the grammar does find faults', () => {
    expect(faultsOf('if (1) { 2')).toEqual(['}: '])
    expect(faultsOf('echo "a')).toHaveLength(1)
    expect(faultsOf('Get-Item; 1 + 2')).toEqual([])
  })

  const texts = [
    '',
    'Get-ChildItem | Select-Object -First 1',
    "'测试 é'",
    "Write-Output 'ends in a comment' # why",
    "if ($true) {\n  'a'\n} else {\n  'b'\n}",
    '@"\nhere $x\n"@',
    "@'\nhere\n'@",
    '$x = @{ a = 1; b = @(1, 2) }\r\n$x.a',
    'function f($n) { $n * 2 }; f 3',
    "bash -c 'exit 7'",
    'exit 3',
    "throw 'x'",
    'param($a = 1)\n$a',
    'param(\n  [string]$name\n)\nWrite-Output $name',
    'using namespace System.Text\n[Encoding]::UTF8.EncodingName',
    '#requires -Version 5\nGet-Date',
    '[CmdletBinding()]\nparam()\nGet-Date',
    'begin { $n = 0 } process { $n++ } end { $n }',
    `${"Write-Output 'long'\n".repeat(6_000)}Get-Date`,
  ]
  it.each(texts.map((text) => [text.slice(0, 60), text]))('SH-33 parses: %j', (_start, text) => {
    for (const platform of ['linux', 'win32'] as const) {
      for (const script of scriptsOf(text, platform)) expect(faultsOf(script)).toEqual([])
    }
  })

  it.each(['Write-Output a', 'Write-Output a # `', '', '$x = 1;', "@'\na\n'@"])('SH-34 the epilogue is a statement of its own after %j', (text) => {
    const [script = ''] = scriptsOf(text, 'linux')
    const statements = parser
      .parse(script)
      ?.rootNode.descendantsOfType(['if_statement'])
      .map((node) => node?.text)
    expect(statements).toContain('if($?){exit 0}')
  })

  it.each(['Get-Item |', "Write-Output 'a", '1 +', 'if ($true) {', '@"\na', '<# a', 'f ('])(
    'SH-34 what is incomplete stays incomplete with the epilogue: %j',
    (text) => {
      for (const script of scriptsOf(text, 'linux')) expect(faultsOf(script)).not.toEqual([])
    },
  )
})
