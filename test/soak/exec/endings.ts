import { cut, type Plan, randomStop } from './play.ts'
import type { Random } from './random.ts'
import { counted, MAX_COUNT, manyBytes, nothing, type Stream, text, yes } from './streams.ts'

/** Commands that end by themselves; some are stopped on the way, or after it. */
export function endingPlan(random: Random): Plan {
  const kind = random.pick([
    fast,
    fast,
    fast,
    printing,
    printing,
    failing,
    failing,
    missing,
    dying,
    fed,
    fed,
    counting,
    counting,
    overflowing,
    beyond,
    long,
  ])
  const plan = kind(random)
  const isStopped = random.chance(0.15)
  return {
    ...plan,
    ...(isStopped && { stop: randomStop(random), stopped: cut(plan.natural) }),
    isKept: random.chance(0.3),
  }
}

type Ended = Plan & { readonly natural: NonNullable<Plan['natural']> }

function ended(command: string, exitCode: number, stdout: Stream = nothing, stderr: Stream = nothing): Ended {
  return { request: { command }, stop: { by: 'nothing' }, natural: { exitCode, signal: null, stdout, stderr } }
}

function fast(random: Random): Ended {
  const code = random.whole(0, 255)
  return random.pick([ended('true', 0), ended(':', 0), ended('', 0), ended('false', 1), ended(`exit ${code}`, code), ended(`(exit ${code})`, code)])
}

function printing(random: Random): Ended {
  const written = manyBytes(random, random.size(1, 4_000))
  const [out, err] = [written, `error ${written.length}`]
  const code = random.whole(0, 3)
  if (random.chance(0.3)) return { ...ended(`printf %s ${quoted(out)}; exit ${code}`, code, text(out)), isRead: true }
  return ended(`printf %s ${quoted(out)}; printf %s ${quoted(err)} >&2; exit ${code}`, code, text(out), text(err))
}

function failing(random: Random): Ended {
  const name = `missing-${random.whole(0, 1e6)}`
  return random.pick([
    ended(name, 127, nothing, text(`bash: line 1: ${name}: command not found\n`)),
    ended('/etc/passwd', 126, nothing, text('bash: line 1: /etc/passwd: Permission denied\n')),
    ended('if then', 2, nothing, text("bash: -c: line 1: syntax error near unexpected token `then'\nbash: -c: line 1: `if then'\n")),
    ended('echo a >&2; false | true; false', 1, nothing, text('a\n')),
    ended('set -e; echo before; false; echo after', 1, text('before\n')),
  ])
}

/** A program that `exec` cannot find. */
function missing(random: Random): Ended {
  const name = `missing-${random.whole(0, 1e6)}`
  return ended(`echo first; exec ${name}`, 127, text('first\n'), text(`bash: line 1: exec: ${name}: not found\n`))
}

function dying(random: Random): Ended {
  const signal = random.pick(['KILL', 'TERM', 'INT', 'HUP', 'USR1', 'PIPE', 'SEGV'] as const)
  const { request } = ended(`ulimit -c 0; printf last; kill -${signal} $$; sleep 20`, 0)
  return { request, stop: { by: 'nothing' }, natural: { exitCode: null, signal: `SIG${signal}`, stdout: text('last'), stderr: nothing } }
}

function fed(random: Random): Ended {
  // Beyond a mebibyte the data goes another way.
  const data = random.chance(0.1) ? `${'x'.repeat(1_500_000)}≤` : manyBytes(random, random.size(1, 200_000))
  const whole = random.pick([
    ended('cat', 0, text(data)),
    ended('cat /dev/stdin', 0, text(data)),
    ended('wc -c', 0, text(`${Buffer.byteLength(data)}\n`)),
    ended('exec 0<&-; echo closed', 0, text('closed\n')),
    ended('head -c 1 >/dev/null; exit 9', 9),
  ])
  return { ...whole, request: { ...whole.request, stdin: data } }
}

function counting(random: Random): Ended {
  const upTo = random.size(1, 11_000)
  const isError = random.chance(0.3)
  const plan = ended(`seq 1 ${upTo}${isError ? ' >&2' : ''}`, 0, isError ? nothing : counted(upTo), isError ? counted(upTo) : nothing)
  return { ...plan, isRead: !isError && random.chance(0.5) }
}

/** Everything is in the file. */
function overflowing(random: Random): Ended {
  const [out, err] = [random.size(12_000, MAX_COUNT), random.size(12_000, MAX_COUNT / 4)]
  return random.chance(0.4)
    ? ended(`seq 1 ${err} >&2 & seq 1 ${out}; wait; exit 4`, 4, counted(out), counted(err))
    : ended(`seq 1 ${out}`, 0, counted(out))
}

/** More than the file may hold. */
function beyond(random: Random): Ended {
  const length = random.whole(8 * 1024 ** 2 - 1, 12 * 1024 ** 2)
  return ended(`yes | head -c ${length}`, 0, yes(length))
}

/** Too long for an argument. */
function long(random: Random): Ended {
  const length = random.size(98_304, 400_000)
  return ended(`: ${quoted('x'.repeat(length))}\nprintf long; exit 3`, 3, text('long'))
}

function quoted(written: string): string {
  return `'${written.replaceAll("'", `'\\''`)}'`
}
