import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { describe, expect, it } from 'vitest'
import { closingAfter, leftBehind } from './closing-after.ts'

const idle = (): ChildProcess => spawn(process.execPath, ['-e', 'setInterval(() => undefined, 1000)'], { stdio: 'ignore' })

async function exited(child: ChildProcess | undefined): Promise<void> {
  if (child?.exitCode === null && child.signalCode === null) await once(child, 'exit')
}

describe('a harness and child processes', () => {
  it('fails on one that still runs, names it, and kills it', async () => {
    const children: ChildProcess[] = []
    const error = await closingAfter(async () => {
      const child = idle()
      children.push(child)
      await once(child, 'spawn')
    })
    const [child] = children
    expect(error).toEqual(leftBehind('process'))
    expect((error as Error).message).toMatch(new RegExp(`a child process, pid ${child?.pid} \\(made at .*harness\\.children`))
    await exited(child)
    expect(child?.signalCode).toBe('SIGKILL')
  })

  it('counts the pipes of one that still runs as well', async () => {
    const error = await closingAfter(async () => {
      const child = spawn(process.execPath, ['-e', 'setInterval(() => undefined, 1000)'])
      await once(child, 'spawn')
    })
    expect((error as Error).message).toContain('a child process')
    expect((error as Error).message).toContain('a pipe')
  })

  it('does not mind one that was ended and waited for', async () => {
    expect(
      await closingAfter(async (scope) => {
        const child = idle()
        scope.defer(async () => {
          child.kill('SIGKILL')
          await exited(child)
        })
        await once(child, 'spawn')
      }),
    ).toBeUndefined()
  })
})
