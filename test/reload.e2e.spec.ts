import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { expect, it } from 'vitest'

const run = promisify(execFile)
const program = fileURLToPath(new URL('./programs/reload-under-call.js', import.meta.url))

it('CP-09 each row of the default composition reloaded and reconfigured under a running command: its pid, its output and its result stay', async () => {
  const { stdout, stderr } = await run(process.execPath, [program], { timeout: 50_000 })
  expect(stderr).toBe('')
  const told = JSON.parse(stdout) as Readonly<Record<string, unknown>>
  const rows = ['shell', 'shell-env', 'subprocess', 'system-prompt', 'tool-bash', 'tools']
  const reloads = [...rows, 'all at once'].map((what) => `reload of ${what}`)
  const edits = ['shell', 'tools', 'subprocess', 'tool-bash', 'system-prompt', 'all at once'].map((what) => `config of ${what}`)
  expect(Object.keys(told)).toEqual([...reloads, ...edits])
  const whole = { rolledBack: false, said: ['1', '2', '3', 'go', 'same pid', 'end'] }
  expect(told).toEqual(Object.fromEntries(Object.keys(told).map((what) => [what, whole])))
})
