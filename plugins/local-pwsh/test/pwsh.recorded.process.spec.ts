import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { renderResult } from '@tenon/shell'
import { type Bench, benchOf, openKernelWorld, seen } from '@tenon/shell/conformance'
import { describe, expect, it } from 'vitest'
import localSubprocess from '../../local-subprocess/test/launched.ts'
import localPwsh from '../src/index.ts'
import { longPlayedScript, playedScript, STAND_IN } from './played-script.ts'

const bench = benchOf({
  name: 'local-pwsh',
  open: (settings) => openKernelWorld(localSubprocess, localPwsh, settings, { executable: STAND_IN }),
  script: playedScript,
  longScript: longPlayedScript,
})

interface Recorded {
  readonly argv: readonly string[]
  readonly env: Readonly<Record<string, string>>
  readonly cwd: string
  readonly stdin: string
  readonly file?: string
  readonly contents?: string
}

/** Runs the text and gives back what the program was started with. */
async function recorded({ run, directory }: Bench, text: string, stdin?: string): Promise<Recorded> {
  const record = join(directory, 'record.json')
  await run(text, { workdir: directory, env: { PWSH_RECORD: record }, ...(stdin !== undefined && { stdin }) })
  return JSON.parse(await readFile(record, 'utf8')) as Recorded
}

const PREAMBLE = 'try{[Console]::OutputEncoding=$OutputEncoding=[Text.UTF8Encoding]::new($false)}catch{$null=0};'
const EPILOGUE = ';if($?){exit 0};try{if($LASTEXITCODE){exit $LASTEXITCODE}}catch{};exit 1'

describe('what PowerShell is started with', () => {
  it('SH-33 B091 B181 options, preamble, the text untouched, epilogue', () =>
    bench({}, async (world) => {
      const text = `Write-Output 'a' "b" \`$c\` \${d} \\ ≤ 🛑\r\n\tGet-Item # end`
      const { argv, cwd, stdin, file } = await recorded(world, text)
      expect(argv).toEqual(['-NoLogo', '-NoProfile', '-NonInteractive', '-Command', `${PREAMBLE}${text}\n${EPILOGUE}`])
      expect({ cwd, stdin, file }).toEqual({ cwd: world.directory, stdin: '', file: undefined })
    }))

  it("SH-30 its environment is told that nobody sits in front of it; TERM is the host's", () =>
    bench({}, async (world) => {
      const { env } = await recorded(world, '')
      expect(env).toMatchObject({ NO_COLOR: '1', PAGER: 'cat', GIT_PAGER: 'cat', GIT_TERMINAL_PROMPT: '0' })
      expect(env.TERM).toBe(process.env.TERM)
    }))

  it('SH-29 standard input is what the request said', () =>
    bench({}, async (world) => expect((await recorded(world, '', 'línea\r\n')).stdin).toBe('línea\r\n')))

  it.each([
    'param($a)\n$a',
    '#requires -Version 5\n1',
    'using namespace System.Text\n1',
    '[CmdletBinding()]param()\n1',
    `'é' #${'x'.repeat(100_000)}`,
  ])('SH-35 as a script, the text comes with a BOM, from a private file that is gone afterwards', (text) =>
    bench({}, async (world) => {
      const { argv, file, contents } = await recorded(world, text)
      expect(argv.slice(0, -1)).toEqual(['-NoLogo', '-NoProfile', '-NonInteractive', '-Command'])
      expect(argv.at(-1)).toBe(`${PREAMBLE}& '${file}'\n${EPILOGUE}`)
      expect(contents).toBe(`\uFEFF${text}\n${EPILOGUE}`)
      await expect(readFile(file ?? '')).rejects.toMatchObject({ code: 'ENOENT' })
    }),
  )

  it('SH-33 CRLF is kept in every view', () =>
    bench({}, async ({ start }) => {
      const text = 'a\r\nb\r\n'
      const execution = await start([
        { do: 'print', text },
        { do: 'print', text, to: 'stderr' },
      ])
      await seen(execution.observed.stdout, text)
      const result = await execution.result()
      expect([result.stdout.text, result.stderr.text]).toEqual([text, text])
      expect(execution.observed.stderr.readFrom(0).text).toBe(text)
      expect(execution.readOutput().delta).toBe(`${text}[stderr]\n${text}`)
    }))

  it('SH-34 B041 exit codes arrive as the program gives them', () =>
    bench({}, async ({ run }) => {
      for (const code of [0, 1, 3, 7, 255]) expect((await run([{ do: 'exit', code }])).exitCode).toBe(code)
    }))

  it('SH-01 B043 text on stderr is no failure', () =>
    bench({}, async ({ run }) => {
      const result = await run([{ do: 'print', text: 'p\n', to: 'stderr' }])
      expect(result).toMatchObject({ exitCode: 0, stdout: { text: '' }, stderr: { text: 'p\n' } })
      expect(renderResult(result)).toBe('[stderr]\np\n')
    }))

  it('SH-22 B065 B067 B068 output is UTF-8, decided for each command anew, whatever the one before wrote', () =>
    bench({}, async ({ run }) => {
      const written = async (text: string, encoding: 'utf8' | 'latin1'): Promise<string> =>
        (await run([{ do: 'write', bytes: [...Buffer.from(text, encoding)] }])).stdout.text
      expect(await written("'测试 é'", 'utf8')).toBe("'测试 é'")
      expect(await written('é', 'latin1')).toBe('\ufffd')
      expect(await written("'测试 é'", 'utf8')).toBe("'测试 é'")
    }))

  it('SH-36 without a configured program it is the bare name, and SHELL_MISSING where that is nowhere', () =>
    bench({ executable: 'pwsh-that-is-nowhere' }, async ({ run }) => {
      await expect(run('1')).rejects.toMatchObject({
        code: 'SHELL_MISSING',
        message: expect.stringContaining('pwsh cannot be run as "pwsh-that-is-nowhere"'),
      })
    }))
})
