import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { expect, it, onTestFinished } from 'vitest'

const program = fileURLToPath(new URL('./programs/close-on-signals.js', import.meta.url))

/** Sends each signal when the line before it was said. */
async function run(
  closing: string,
  signals: readonly NodeJS.Signals[],
): Promise<{ readonly said: readonly string[]; readonly code: number | null; readonly ms: number }> {
  const child = spawn(process.execPath, [program, closing], { stdio: ['ignore', 'pipe', 'inherit'] })
  onTestFinished(() => void child.kill('SIGKILL'))
  const exited = once(child, 'exit')
  const said: string[] = []
  let started = 0
  for await (const line of createInterface({ input: child.stdout })) {
    said.push(line)
    if (said.length === 1) started = performance.now()
    const signal = signals[said.length - 1]
    if (signal !== undefined) child.kill(signal)
  }
  const [code] = (await exited) as [number | null]
  return { said: said.slice(1), code, ms: performance.now() - started }
}

it.each([
  ['SIGINT', 130],
  ['SIGTERM', 143],
  ['SIGHUP', 129],
] as const)('CP-12 %s closes in order and ends with %i', async (signal, code) => {
  expect(await run('quick', [signal])).toMatchObject({ said: [`${signal} first`], code })
})

it('CP-12 a closing that fails ends the process all the same', async () => {
  expect(await run('fails', ['SIGTERM'])).toMatchObject({ said: ['SIGTERM first'], code: 143 })
})

it('CP-12 a closing that never ends is cut off at its budget', async () => {
  const { said, code, ms } = await run('never', ['SIGTERM'])
  expect([said, code]).toEqual([['SIGTERM first', 'SIGTERM budget'], 143])
  expect(ms).toBeGreaterThan(250)
})

it('CP-12 a second signal, of whatever kind, ends at once with its own code', async () => {
  expect(await run('never', ['SIGTERM', 'SIGINT'])).toMatchObject({ said: ['SIGTERM first', 'SIGINT signal'], code: 130 })
})
