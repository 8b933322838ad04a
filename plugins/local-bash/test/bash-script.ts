import type { Step } from '@tenon/shell/conformance'

/** A bash text that does the steps. */
export function bashScript(steps: readonly Step[]): string {
  return steps.map(lineOf).join('\n')
}

/** A text of at least `length` characters; what makes it long comes first. */
export function longBashScript(length: number, text: string, code: number): string {
  return `: ${quoted('x'.repeat(length))}\n${bashScript([
    { do: 'print', text },
    { do: 'exit', code },
  ])}`
}

function lineOf(step: Step): string {
  switch (step.do) {
    case 'print':
      return `printf %s ${quoted(step.text)}${step.to === 'stderr' ? ' >&2' : ''}`
    case 'write':
      // As a program's argument a long run of bytes would not fit; printf is built in.
      return `printf ${quoted(step.bytes.map((byte) => `\\x${byte.toString(16).padStart(2, '0')}`).join(''))}`
    case 'count':
      return `seq 1 ${step.upTo}${step.to === 'stderr' ? ' >&2' : ''}`
    case 'env':
      return `printf %s "\${${step.name}-<unset>}"`
    case 'cwd':
      return 'printf %s "$PWD"'
    case 'cat':
      return 'cat'
    case 'closeStdin':
      return 'exec 0<&-'
    case 'touch':
      return `touch ${quoted(step.file)}`
    case 'sleep':
      return step.ms === 0 ? ':' : `sleep ${step.ms / 1_000}`
    case 'linger':
      return 'while :; do sleep 60 & wait $!; done'
    case 'onTerm': {
      const wait = step.waitMs === undefined ? '' : `sleep ${step.waitMs / 1_000}; `
      const exit = step.exitCode === undefined ? '' : `; exit ${step.exitCode}`
      return `trap ${quoted(`${wait}printf %s ${quoted(step.text)}${exit}`)} TERM`
    }
    case 'leave': {
      const seconds = step.ms / 1_000
      const child = step.ticks === true ? '(while :; do echo tick; sleep 0.02; done)' : `${step.apart === true ? 'setsid ' : ''}sleep ${seconds}`
      return `${child}${step.holds === 'stderr' ? ' >/dev/null' : ''} &`
    }
    case 'die':
      return `kill -${step.signal.slice(3)} $$`
    case 'exit':
      return `exit ${step.code}`
  }
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`
}
