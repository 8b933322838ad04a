import { execFile } from 'node:child_process'
import { dirname, join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
import { expect, it } from 'vitest'

const root = dirname(dirname(fileURLToPath(import.meta.url)))
const measurement = pathToFileURL(join(root, 'scripts/bootstrap/measurement.mjs')).href

it('KN-36 a trial of the soak of the kernel plays as many scenarios as it is told, of the seeds it names', async () => {
  const program = `await (await import(${JSON.stringify(measurement)})).runMeasurement(...JSON.parse(process.argv[1]))`
  const args = [root, 'soak', ['kernel', '--runs', '30', '--seed', '7', '--jobs', '1']]
  const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', program, JSON.stringify(args)], { cwd: root })
  expect(stdout).toMatch(/^30 scenarios agree, seeds 7 to 7, in \d+ s\n$/)
})
