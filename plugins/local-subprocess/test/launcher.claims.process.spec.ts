import { execFileSync } from 'node:child_process'
import { existsSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { openChildren } from './open-children.ts'

it('LN-07 a launch that is called off when its ends are open already does not begin, and is answered like any other', async () => {
  const { directory, fifo, said, spawn } = openChildren()
  const [claim, ran] = [join(directory, 'claim'), join(directory, 'ran')]
  const run = (id: number): void => spawn(id, `echo ${id} >> ${ran}`, { claim })
  run(1)
  await expect.poll(() => said).toEqual([{ type: 'revoked', id: 1 }])
  writeFileSync(claim, '')
  run(2)
  await expect.poll(() => said.at(-1)).toMatchObject({ type: 'exited', id: 2, exitCode: 0, signal: null })
  expect([existsSync(claim), existsSync(fifo)]).toEqual([false, false])
  expect(execFileSync('cat', [ran], { encoding: 'utf8' })).toBe('2\n')
})

it('LN-07 one whose FIFO has gone fails, and is answered once', async () => {
  const { fifo, said, spawn } = openChildren()
  rmSync(fifo)
  spawn(1, 'true')
  await expect.poll(() => said).toEqual([{ type: 'failed', id: 1, error: expect.objectContaining({ code: 'ENOENT', path: fifo }) }])
})
