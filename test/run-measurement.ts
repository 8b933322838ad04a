import { execFile } from 'node:child_process'
import { dirname, join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { promisify } from 'node:util'

export const root = dirname(dirname(fileURLToPath(import.meta.url)))
const measurement = pathToFileURL(join(root, 'scripts/bootstrap/measurement.mjs')).href

/** Runs a bench or a soak as its command does, in a process of its own; resolves with its standard output. */
export async function runMeasurement(kind: 'bench' | 'soak', args: readonly string[]): Promise<string> {
  const program = `await (await import(${JSON.stringify(measurement)})).runMeasurement(...JSON.parse(process.argv[1]))`
  const given = JSON.stringify([root, kind, args])
  const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', program, given], { cwd: root })
  return stdout
}
