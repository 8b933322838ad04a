// Stands in for pnpm: writes down its call, "installs" the other stand-ins, and does not end while the file `hold` is there.
const fs = require('node:fs')
const record = (event) => {
  const { argv, env, pid } = process
  fs.appendFileSync('records.jsonl', `${JSON.stringify({ step: 'pnpm', event, pid, argv: argv.slice(2), env })}\n`)
}

record('began')
fs.mkdirSync('node_modules/typescript7/bin', { recursive: true })
fs.mkdirSync('node_modules/vitest', { recursive: true })
fs.copyFileSync('stand-ins/tsc.cjs', 'node_modules/typescript7/bin/tsc')
fs.copyFileSync('stand-ins/vitest.mjs', 'node_modules/vitest/vitest.mjs')
const poll = setInterval(() => {
  if (fs.existsSync('hold')) return
  clearInterval(poll)
  record('ended')
  if (fs.existsSync('break-the-installation')) {
    console.log('no such package')
    process.exitCode = 7
  }
}, 10)
process.on('SIGTERM', () => {
  record('ended')
  process.exit(1)
})
