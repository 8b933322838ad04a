import { expect, it } from 'vitest'
import { runMeasurement } from './run-measurement.ts'

it('KN-36 a trial of the soak of the kernel plays as many scenarios as it is told, of the seeds it names', async () => {
  const stdout = await runMeasurement('soak', ['kernel', '--runs', '30', '--seed', '7', '--jobs', '1'])
  expect(stdout).toMatch(/^30 scenarios agree, seeds 7 to 7, in \d+ s\n$/)
})
