import { setTimeout as pause } from 'node:timers/promises'
import type { ShellExecution } from '@tenon/shell'
import { cut, type Plan, type Stop } from './play.ts'
import type { Random } from './random.ts'
import { nothing, text, yes } from './streams.ts'
import { GRACE_MS } from './world.ts'

/** Commands that never end by themselves: killed, aborted, timed out. */
export function stoppedPlan(random: Random): Plan {
  const kind = random.pick([endless, endless, endless, flooding, flooding, trapping, trapping, tree, tree, escaping, escaping, patient])
  return random.chance(0.04) ? ignoring(random) : kind(random)
}

function endless(random: Random): Plan {
  const command = random.pick(['sleep 30', 'while :; do :; done', 'read < <(sleep 30)', 'kill -STOP $$; sleep 30', 'cat /dev/zero >/dev/null'])
  return { ...stop(random, command), stopped: cut({ stdout: nothing, stderr: nothing }) }
}

function flooding(random: Random): Plan {
  const isError = random.chance(0.3)
  const plan = stop(random, `exec yes${isError ? ' >&2' : ''}`, 'y\n')
  return { ...plan, stopped: cut(isError ? { stdout: nothing, stderr: yes() } : { stdout: yes(), stderr: nothing }), isKept: random.chance(0.2) }
}

/** The trap has its say within the grace. */
function trapping(random: Random): Plan {
  const code = random.whole(0, 9)
  const plan = stop(random, `trap 'printf bye; exit ${code}' TERM; printf up; while :; do sleep 0.05; done`, 'up')
  const own = [text('upbye'), text('bye')].map((stdout) => ({ exitCode: code, signal: null, stdout }))
  return { ...plan, stopped: [...own, ...cut({ stdout: nothing })] }
}

/** Only the forced signal ends it. */
function ignoring(random: Random): Plan {
  const plan = stop(random, `trap '' TERM; printf up; while :; do sleep 0.2; done`, 'up')
  return {
    ...plan,
    stopped: [{ exitCode: null, signal: 'SIGKILL', stdout: text('up'), isCut: true }, ...cut({ stdout: nothing })],
    afterwards: nobodyIsLeft,
  }
}

function tree(random: Random): Plan {
  const deep = 'bash -c \'sleep 30 & bash -c "sleep 30 & sleep 30 | cat"; :\''
  const command = random.pick([
    `${deep} & printf up; sleep 30`,
    `printf up; ${deep} | cat | cat; :`,
    'for i in 1 2 3 4 5 6; do sleep 30 & done; printf up; wait',
  ])
  return { ...stop(random, command, 'up'), stopped: cut({ stdout: text('up') }), afterwards: nobodyIsLeft }
}

/** Members that left session and group, or do not listen. */
function escaping(random: Random): Plan {
  const command = random.pick([
    'setsid sleep 30 & printf up; sleep 30',
    '(setsid sleep 30 &) ; printf up; sleep 30',
    "nohup setsid bash -c 'sleep 30 & sleep 30' >/dev/null 2>&1 & printf up; sleep 30",
    ...(random.chance(0.1) ? ["(trap '' TERM; sleep 30; :) & printf up; sleep 30"] : []),
  ])
  return { ...stop(random, command, 'up'), stopped: cut({ stdout: text('up') }), afterwards: nobodyIsLeft }
}

/** `onExpiry: 'none'`: the deadline is of the preparation only. */
function patient(random: Random): Plan {
  const timeoutMs = random.whole(5_000, 9_000)
  const plan = stop(random, 'printf up; sleep 30', 'up')
  const by = random.pick(['abort', 'kill'] as const)
  return {
    ...plan,
    request: { command: 'printf up; sleep 30', onExpiry: 'none', timeoutMs },
    stop: { by, afterMs: random.whole(20, 200) },
    stopped: cut({ stdout: text('up'), stderr: nothing }),
  }
}

function stop(random: Random, command: string, mark?: string): Pick<Plan, 'request' | 'stop'> {
  const by = random.pick(['deadline', 'abort', 'kill'] as const)
  if (by === 'deadline') return { request: { command, timeoutMs: random.size(10, 400) }, stop: { by } }
  const when: Stop = mark !== undefined && random.chance(0.5) ? { by, at: mark } : { by, afterMs: random.size(1, 250) }
  return { request: { command }, stop: when }
}

/** Ending goes on after the leader's exit; it has the grace, and as much again on a busy machine. */
async function nobodyIsLeft(execution: ShellExecution): Promise<string[]> {
  const until = performance.now() + 2 * GRACE_MS + 1_000
  let count = await execution.survivors()
  while (count > 0 && performance.now() < until) {
    await pause(20)
    count = await execution.survivors()
  }
  return count === 0 ? [] : [`${count} members of the tree have survived its end`]
}
