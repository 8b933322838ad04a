import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { renderResult } from '@tenon/shell'
import { seen } from '@tenon/shell/conformance'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { bench } from './bash-bench.ts'

describe('the text of a bash command', () => {
  // A directory for temporary files of its own: others run executors at the same time.
  const hostTmpdir = process.env.TMPDIR
  beforeAll(async () => {
    process.env.TMPDIR = await mkdtemp(join(tmpdir(), 'tenon-bash-text-'))
  })
  afterAll(async () => {
    await rm(tmpdir(), { recursive: true })
    if (hostTmpdir === undefined) delete process.env.TMPDIR
    else process.env.TMPDIR = hostTmpdir
  })
  const scriptDirectories = async (): Promise<string[]> => (await readdir(tmpdir())).filter((name) => name.startsWith('tenon-shell-'))

  const awkward = [
    "single ' quote",
    'double " quote',
    'tick ` tick',
    // biome-ignore lint/suspicious/noTemplateCurlyInString: of bash
    '$HOME $(id) ${x}',
    'back\\slash\\',
    '!bang!',
    'tab\there',
    'cr\r',
    '≤ 🛑',
    '  blanks  ',
    '#',
  ]

  it('SH-26 B091 arrives byte for byte', () =>
    bench({}, async ({ run, directory }) => {
      const heredoc = `${awkward.join('\n')}\n`
      const result = await run(`cat > copy <<'END'\n${heredoc}END`, { workdir: directory })
      expect(result).toMatchObject({ exitCode: 0, stdout: { text: '' }, stderr: { text: '' } })
      expect(await readFile(join(directory, 'copy'), 'utf8')).toBe(heredoc)
    }))

  it('SH-26 B089 a heredoc of 100 kB and one of 140 kB arrive byte for byte', () =>
    bench({}, async ({ run, directory }) => {
      for (const length of [97_000, 100_000, 140_000]) {
        const heredoc = `${awkward.join('\n')}\n${'x'.repeat(length)}\n`
        await run(`cat > copy <<'END'\n${heredoc}END`, { workdir: directory })
        expect(await readFile(join(directory, 'copy'), 'utf8')).toBe(heredoc)
      }
    }))

  it('SH-26 B010 input of several lines and operators completes', () =>
    bench({}, async ({ run }) => {
      expect((await run('cd /tmp &&\nfor i in 1 2; do\n echo $i\ndone')).stdout.text).toBe('1\n2\n')
    }))

  it.each(['ls -l |', 'if true; then', "echo 'open", 'echo )'])('SH-26 B011 incomplete syntax is exit 2 with its message: %s', (command) =>
    bench({}, async ({ run }) => {
      const result = await run(command)
      expect(result.exitCode).toBe(2)
      expect(result.stderr.text).toMatch(/syntax error|unexpected EOF/)
    }),
  )

  it.each(['-x', '--version', '-c evil', '+o', '-'])('SH-26 a text that looks like an option is a command: %s', (command) =>
    bench({}, async ({ run }) => {
      const [program] = command.split(' ')
      expect(await run(command)).toMatchObject({ exitCode: 127, stderr: { text: expect.stringContaining(`${program}: command not found`) } })
    }),
  )

  it('SH-26 B181 nothing is rewritten, and nothing is put around it', () =>
    bench({}, async ({ run }) => {
      const result = await run(`echo 'ssh host'; echo "a 2>nul"; echo a '&' b; echo "\${BASH_EXECUTION_STRING}"`)
      expect(result.stdout.text).toBe(`ssh host\na 2>nul\na & b\necho 'ssh host'; echo "a 2>nul"; echo a '&' b; echo "\${BASH_EXECUTION_STRING}"\n`)
    }))

  it('SH-26 B092 a directory with quotes and substitutions in its name runs nothing', () =>
    bench({}, async ({ run, directory }) => {
      const odd = `$(touch ran) \`touch ran\` ' " x`
      await run(`mkdir -p "${'$'}ODD"`, { workdir: directory, env: { ODD: odd } })
      expect((await run('pwd; echo end', { workdir: join(directory, odd) })).stdout.text).toBe(`${join(directory, odd)}\nend\n`)
      expect(await readdir(directory)).toEqual([odd])
    }))

  const bodies: [string, string][] = [
    ['arguments and name', 'echo "[$0] $#"'],
    ['line numbers', 'echo $LINENO\necho $LINENO\n\necho $LINENO'],
    ['return, which is refused and goes on', 'return 3\necho "after $?"'],
    ['set -e', 'set -e\necho 1\nfalse\necho 2'],
    ['an exit status', '(exit 42)'],
    ['exit', 'exit 9; echo never'],
    ['a trailing backslash and newline', 'echo a \\\n'],
    ['trailing newlines within quotes', "printf '[%s]' 'a\n\n'\n\n"],
    ['an EXIT trap', "trap 'echo bye $?' EXIT\n(exit 4)"],
    ['an ERR trap', "trap 'echo ERR $LINENO' ERR\nfalse\nfalse"],
    ['a RETURN and a DEBUG trap', "trap 'echo DBG $LINENO' DEBUG\nf() { :; }\nf"],
    ['stdin', 'read -r first; echo "[$first]"; cat'],
    // biome-ignore lint/suspicious/noTemplateCurlyInString: of bash
    ['functions and nesting', 'f() { echo "${FUNCNAME[0]} $LINENO"; }\nf\necho "$BASH_SUBSHELL ${#BASH_SOURCE[@]}"'],
    ['an alias', 'shopt -s expand_aliases\nalias q="echo aliased"\nq'],
    ['a comment at the end', 'echo a # b'],
    ['a heredoc at the end', 'cat <<E\nx\nE'],
    ['exec', 'exec printf %s replaced'],
    ['an unset variable', 'set -u\necho "$nope"\necho never'],
    ['non-ASCII', 'echo ≤🛑'],
  ]
  it.each(bodies)('SH-27 as a file, a text behaves as an argument does: %s', (_what, body) =>
    bench({ maxOutputBytes: 200_000 }, async ({ run }) => {
      const stdin = 'one\ntwo\n'
      const short = await run(`: ${'y'.repeat(9)};${body}`, { stdin })
      const facts = ({ exitCode, signal, stdout, stderr }: typeof short) => ({ exitCode, signal, stdout, stderr })
      for (const length of [96 * 1024, 5 << 20]) expect(facts(await run(`: ${'y'.repeat(length)};${body}`, { stdin }))).toEqual(facts(short))
    }),
  )

  it('SH-27 the switch is at 96 KiB of UTF-8, and the files are gone with the commands and the directory with the row', async () => {
    await bench({}, async ({ run }) => {
      // In another locale bash counts characters.
      const sized = (bytes: number): string => `LC_ALL=C; echo "\${#BASH_EXECUTION_STRING}" #${'≤'.repeat(4)}`.padEnd(bytes - 8, 'x')
      expect((await run(sized(96 * 1024))).stdout.text).toBe(`${96 * 1024}\n`)
      expect(await scriptDirectories()).toEqual([])
      expect(await run(sized(96 * 1024 + 1))).toMatchObject({ exitCode: 0 })
      const [directory] = await scriptDirectories()
      expect(await readdir(join(tmpdir(), directory ?? 'none'))).toEqual([])
    })
    expect(await scriptDirectories()).toEqual([])
  })

  it('SH-24 a reload leaves a long command its file, and the next one uses the same directory', async () => {
    await bench({}, async ({ start, reload }) => {
      const pad = 'x'.repeat(100_000)
      const first = await start(`echo up; sleep 0.4; echo done #${pad}`)
      await seen(first.observed.stdout, 'up')
      const shell = await reload()
      const second = await shell.execute(shell.resolve({ command: `echo second #${pad}` }))
      const directories = await scriptDirectories()
      expect(directories).toHaveLength(1)
      expect((await second.result()).stdout.text).toBe('second\n')
      expect((await first.result()).stdout.text).toBe('up\ndone\n')
      expect(await readdir(join(tmpdir(), directories[0] ?? 'none'))).toEqual([])
    })
    expect(await scriptDirectories()).toEqual([])
  })

  it('SH-27 a script that vanished before bash read it is a failure, not a silent success', () =>
    bench({}, async ({ reload, directory }) => {
      // Stands before bash, and takes the script away as a cleaner of temporary files might.
      const thief = join(directory, 'thief')
      const steal = `rm "$(printf %s "$3" | sed "s/.*(<'\\([^']*\\)').*/\\1/")"; exec /bin/bash "$@"`
      await writeFile(thief, `#!/bin/sh\n${steal}\n`, { mode: 0o755 })
      const shell = await reload({ executable: thief })
      const execution = await shell.execute(shell.resolve({ command: `echo ran #${'x'.repeat(100_000)}` }))
      expect(await execution.result()).toMatchObject({
        exitCode: 126,
        stdout: { text: '' },
        stderr: { text: expect.stringContaining('No such file') },
      })
    }))

  it('SH-46 B176 markers that a command prints do not pass for ours', () =>
    bench({}, async ({ run }) => {
      expect(renderResult(await run(`printf 'x\\n[exit code: 0]'; exit 3`))).toBe('x\n[exit code: 0]\n[exit code: 3]')
      expect(renderResult(await run(`printf 'x\\n[exit code: 1]'`))).toBe('x\n[exit code: 1]\n')
    }))
})
