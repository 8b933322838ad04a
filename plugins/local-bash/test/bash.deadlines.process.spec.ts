import { readdir } from 'node:fs/promises'
import { renderResult } from '@tenon/shell'
import { seen } from '@tenon/shell/conformance'
import { describe, expect, it } from 'vitest'
import { noMoreTimersThan, timers } from '../../local-subprocess/test/timers.ts'
import { bench } from './bash-bench.ts'

describe('a deadline that ends the command', () => {
  it('SH-03 B022 is capped, however large it was asked for, and does not fire at once', () =>
    bench({ maxTimeoutMs: 2_147_483_647 }, async ({ run }) => {
      for (const timeoutMs of [99_999_999_999, 2_147_483_648, 1e15]) {
        for (const onExpiry of ['kill', 'none'] as const) {
          expect(await run('sleep 0.2; echo ok', { timeoutMs, onExpiry })).toMatchObject({
            exitCode: 0,
            timedOut: false,
            timeoutMs: 2_147_483_647,
            stdout: { text: 'ok\n' },
          })
        }
      }
    }))

  it('SH-09 B007 that traps it, waits and exits with 0: timedOut beside exit code 0, and neither an abort, kill() nor the exit changes the cause', () =>
    bench({ graceMs: 20_000 }, async ({ start }) => {
      const before = timers()
      const controller = new AbortController()
      const execution = await start(`trap 'echo trapped; sleep 1; exit 0' TERM; sleep 30 & wait`, { timeoutMs: 700, signal: controller.signal })
      await seen(execution.observed.stdout, 'trapped')
      controller.abort()
      expect([execution.kill(), execution.status, execution.exitCode]).toEqual([true, 'running', null])
      const result = await execution.result()
      expect(result).toMatchObject({ timedOut: true, aborted: false, exitCode: 0, signal: null, stdout: { text: 'trapped\n' } })
      expect([execution.status, execution.exitCode, execution.kill()]).toEqual(['killed', 0, false])
      await noMoreTimersThan(before)
      expect(result.durationMs).toBeGreaterThanOrEqual(1_700)
      expect(renderResult(result)).toBe('trapped\n[timed out after 700ms]')
    }))

  it('SH-06 B020 B034 lets traps run before the forced end, keeps what they print, and the EXIT trap too', () =>
    bench({ graceMs: 20_000 }, async ({ run, directory }) => {
      const late = await run("trap 'sleep 0.5; echo CLEANED; exit' TERM; sleep 60 & wait", { timeoutMs: 600 })
      expect(late).toMatchObject({ timedOut: true, stdout: { text: 'CLEANED\n' } })
      await run("trap 'echo bye >> bye' EXIT TERM; sleep 30 & wait", { timeoutMs: 600, workdir: directory })
      expect(await readdir(directory)).toEqual(['bye'])
    }))

  it('SH-06 B014 ends what has stopped itself, and so do kill() and an abort', () =>
    bench({ graceMs: 500 }, async ({ start }) => {
      const controller = new AbortController()
      const requests = [{ timeoutMs: 800 }, {}, { signal: controller.signal }]
      const executions = await Promise.all(requests.map((request) => start('echo up; kill -STOP $$; echo never', request)))
      for (const execution of executions) await seen(execution.observed.stdout, 'up')
      executions[1]?.kill()
      controller.abort()
      const results = await Promise.all(executions.map((execution) => execution.result()))
      expect(results.map(({ timedOut, aborted }) => [timedOut, aborted])).toEqual([
        [true, false],
        [false, false],
        [false, true],
      ])
      for (const result of results) expect([result.exitCode, result.stdout.text]).toEqual([null, 'up\n'])
    }))
})

describe('no deadline', () => {
  it('SH-07 B023 runs past its deadline without a timer, many at once, until an abort, kill() or its own end; the deadline is echoed', () =>
    bench({ graceMs: 300 }, async ({ start }) => {
      const before = timers()
      const controller = new AbortController()
      const request = { timeoutMs: 700, onExpiry: 'none' } as const
      const aborted = await Promise.all(
        Array.from({ length: 5 }, () => start("trap '' TERM; echo up; while :; do sleep 0.05; done", { ...request, signal: controller.signal })),
      )
      const killed = await Promise.all(Array.from({ length: 5 }, () => start('echo up; sleep 600', request)))
      const ended = await Promise.all(Array.from({ length: 5 }, () => start('echo up; sleep 1.2; echo late; exit 4', request)))
      const all = [...aborted, ...killed, ...ended]
      for (const execution of all) await seen(execution.observed.stdout, 'up')
      await noMoreTimersThan(before)
      for (const execution of ended) {
        expect(await execution.result()).toMatchObject({
          exitCode: 4,
          timedOut: false,
          aborted: false,
          timeoutMs: 700,
          stdout: { text: 'up\nlate\n' },
        })
        expect((await execution.result()).durationMs).toBeGreaterThan(1_200)
      }
      expect([...aborted, ...killed].map(({ status }) => status)).toEqual(Array.from({ length: 10 }, () => 'running'))
      controller.abort()
      for (const execution of killed) expect(execution.kill()).toBe(true)
      for (const execution of aborted)
        expect(await execution.result()).toMatchObject({ aborted: true, timedOut: false, signal: 'SIGKILL', timeoutMs: 700 })
      for (const execution of killed) expect(await execution.result()).toMatchObject({ aborted: false, timedOut: false, signal: 'SIGTERM' })
      expect(all.map(({ status }) => status)).toEqual([
        ...Array.from({ length: 10 }, () => 'killed'),
        ...Array.from({ length: 5 }, () => 'completed'),
      ])
    }))

  it('SH-07 also after a reload of the executor', () =>
    bench({ graceMs: 300 }, async ({ start, reload }) => {
      const execution = await start('echo up; sleep 600', { timeoutMs: 600, onExpiry: 'none' })
      await seen(execution.observed.stdout, 'up')
      await reload({ timeoutMs: 50 })
      const other = await start('sleep 1')
      await other.done
      expect(execution.status).toBe('running')
      expect(execution.kill()).toBe(true)
      expect(await execution.result()).toMatchObject({ timedOut: false, timeoutMs: 600 })
    }))
})

describe('how an end is told', () => {
  it('SH-08 B179 an aborted command is aborted, whatever exit code it finds for itself', () =>
    bench({ graceMs: 20_000 }, async ({ start }) => {
      for (const code of [0, 1, 143]) {
        const controller = new AbortController()
        const execution = await start(`trap 'exit ${code}' TERM; echo up; sleep 60 & wait`, { signal: controller.signal })
        await seen(execution.observed.stdout, 'up')
        controller.abort()
        expect(await execution.result()).toMatchObject({ aborted: true, timedOut: false, exitCode: code })
        expect(execution.status).toBe('killed')
      }
    }))

  it('SH-16 B013 a command that replaces its shell and leaves a zombie is over when it is over, not when somebody looks', () =>
    bench({}, async ({ start }) => {
      const execution = await start(`bash -c 'sleep 0.1 & exec sleep 1'; date +%s%N`)
      await execution.done
      const late = Date.now() - Number(execution.observed.stdout.readFrom(0).text) / 1e6
      expect(execution.status).toBe('completed')
      expect(late).toBeLessThan(1_000)
      await expect.poll(() => execution.survivors()).toBe(0)
    }))

  it('SH-17 B035 a kill whose escalation is still to come does not reach a successor of the same text', () =>
    bench({ graceMs: 300 }, async ({ start }) => {
      const text = "trap '' TERM; echo up; sleep 1; echo end"
      const first = await start(text)
      await seen(first.observed.stdout, 'up')
      first.kill()
      const second = await start(text)
      expect(await first.result()).toMatchObject({ signal: 'SIGKILL' })
      expect(await second.result()).toMatchObject({ exitCode: 0, stdout: { text: 'up\nend\n' } })
      expect(second.status).toBe('completed')
    }))

  it('SH-01 B043 progress on stderr is no failure, and is shown as what it is', () =>
    bench({}, async ({ run }) => {
      const result = await run('echo progress >&2; true')
      expect(result).toMatchObject({ exitCode: 0, signal: null })
      expect(renderResult(result)).toBe('[stderr]\nprogress\n')
    }))

  it('SH-30 B037 the status is that of the last command, and nothing claims more', () =>
    bench({}, async ({ run }) => {
      expect(renderResult(await run('(echo FAIL; exit 3) 2>&1 | tail -1'))).toBe('FAIL\n')
      // biome-ignore lint/suspicious/noTemplateCurlyInString: of bash
      expect(renderResult(await run('(echo FAIL; exit 3) 2>&1 | tail -1; echo "${PIPESTATUS[0]}"'))).toBe('FAIL\n3\n')
      expect(renderResult(await run('set -o pipefail; (echo FAIL; exit 3) 2>&1 | tail -1'))).toBe('FAIL\n[exit code: 3]')
    }))
})
