// Packs the packages of this checkout, as long as no registry has them: `node examples/pack.mjs [folder]`, after the checkout's first `npm start`.
// A plugin elsewhere installs them with `npm install --save-dev FOLDER/*.tgz`.

import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, rmSync } from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = dirname(dirname(fileURLToPath(import.meta.url)))
const folder = process.argv[2] === undefined ? join(root, '.cache', 'packed') : resolve(process.argv[2])

const pnpm = pnpmProgram()
if (pnpm === undefined || !existsSync(join(root, 'packages', 'kernel', 'dist'))) {
  process.stderr.write(`error: ${root} is not set up: run \`npm start\` in it first\n`)
  process.exit(1)
}

try {
  mkdirSync(folder, { recursive: true })
  // What has another name or version by now would be installed beside the new.
  for (const name of readdirSync(folder)) if (/^tenon-.*\.tgz$/.test(name)) rmSync(join(folder, name))
} catch (error) {
  process.stderr.write(`error: cannot write to ${folder}: ${error.message}\n`)
  process.exit(1)
}
const published = ['./packages/*', './plugins/*', './catalog'].flatMap((place) => ['--filter', place])
const args = [pnpm, '--recursive', ...published, 'pack', '--pack-destination', folder]
try {
  // Settings of an npm that runs this are not for pnpm.
  const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !/^(npm_|NODE_ENV)/i.test(name)))
  execFileSync(process.execPath, args, { cwd: root, env: { ...env, CI: '1' }, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] })
} catch (error) {
  process.stderr.write(`error: pnpm cannot pack the packages:\n${error.stdout}${error.stderr}`)
  process.exit(1)
}
const here = relative('', folder)
const quoted = /^[\w./-]+$/.test(folder) ? folder : JSON.stringify(folder)
process.stdout.write(`packed into ${here.startsWith('..') ? folder : here || '.'}; install them in the folder of your plugin:\n`)
process.stdout.write(`  npm install --save-dev ${quoted}/*.tgz\n`)

/** The one that the set-up of the checkout has installed. */
function pnpmProgram() {
  const tools = join(root, '.tools')
  const names = existsSync(tools) ? readdirSync(tools).filter((name) => /^pnpm-[\d.]+$/.test(name)) : []
  return names.map((name) => join(tools, name, 'node_modules', 'pnpm', 'bin', 'pnpm.cjs')).find((program) => existsSync(program))
}
