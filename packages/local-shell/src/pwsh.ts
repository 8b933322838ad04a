import { fitsArgument } from './argument-limit.ts'
import { type Dialect, NON_INTERACTIVE_ENV } from './dialect.ts'
import { discoverPwsh } from './pwsh-discovery.ts'

const OPTIONS = ['-NoLogo', '-NoProfile', '-NonInteractive']

/**
 * On the first line of the text, so that line numbers stay. UTF-8 without BOM for what the console and pipelines to programs carry. A
 * restricted language mode refuses it, which is tolerated; the last statement leaves `$?` true. Prints nothing.
 */
const PREAMBLE = 'try{[Console]::OutputEncoding=$OutputEncoding=[Text.UTF8Encoding]::new($false)}catch{$null=0};'

/**
 * PowerShell's own exit code of `-Command` is 0 or 1; this one is the native code where there is one. It must read `$?` before anything
 * else does. Under strict mode an unset LASTEXITCODE throws. Without quotes, so that it can never close one the text left open. The
 * semicolon ends what a backtick, a pipe or an operator at the end of the text would continue.
 */
const EPILOGUE = ';if($?){exit 0};try{if($LASTEXITCODE){exit $LASTEXITCODE}}catch{};exit 1'

/** `pwsh -NoLogo -NoProfile -NonInteractive -Command TEXT`, the text between preamble and epilogue. */
export const pwsh: Dialect = {
  name: 'pwsh',
  env: NON_INTERACTIVE_ENV,
  discover: discoverPwsh,
  launch: (command, platform) => {
    const text = `${PREAMBLE}${command}\n${EPILOGUE}`
    if (!mustComeFirst(command) && fitsArgument(text, platform)) return { form: 'argument', args: [...OPTIONS, '-Command', text] }
    return {
      form: 'file',
      extension: 'ps1',
      contents: `\uFEFF${command}\n${hasNamedBlocks(command) ? '' : EPILOGUE}`,
      args: (path) => [
        ...OPTIONS,
        ...(platform === 'win32' ? ['-ExecutionPolicy', 'Bypass'] : []),
        '-Command',
        `${PREAMBLE}& ${quoted(path)}\n${EPILOGUE}`,
      ],
    }
  },
}

/** Whether the first token after blanks and comments is one that nothing may stand before: such text is a script of its own. */
function mustComeFirst(command: string): boolean {
  const rest = command.replace(/^(?:\s+|<#[\s\S]*?#>|#(?!requires\b)[^\r\n]*)*/i, '')
  // An attribute has parentheses within its brackets; `[int]$n` and `[Console]::Beep()` begin ordinary statements.
  return /^(?:#requires\b|param\b|using\b|\[\s*[a-z_][\w.]*\s*\(|(?:begin|process|end|clean|dynamicparam)\s*\{)/i.test(rest)
}

/**
 * `$?` after a call of a script only tells whether it exited with zero, so a script ends with the epilogue too. Nothing may follow
 * named blocks: there the loss of a failing last cmdlet's code is accepted, since a parse error would be worse.
 */
function hasNamedBlocks(command: string): boolean {
  return /(?:^|[\s;)}\]])(?:begin|process|end|clean|dynamicparam)\s*\{/i.test(command)
}

/** PowerShell takes typographic single quotes for plain ones. */
function quoted(path: string): string {
  return `'${path.replace(/['‘’‚‛]/g, '$&$&')}'`
}
