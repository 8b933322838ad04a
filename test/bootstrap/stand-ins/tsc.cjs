// Stands in for the compiler: writes down its call and makes the one file that has to be there.
const fs = require('node:fs')
const record = (event) => {
  const { argv, env, pid } = process
  fs.appendFileSync('records.jsonl', `${JSON.stringify({ step: 'tsc', event, pid, argv: argv.slice(2), env })}\n`)
}

record('began')
fs.mkdirSync('packages/one/dist', { recursive: true })
fs.copyFileSync('packages/one/src/one.ts', 'packages/one/dist/one.js')
record('ended')
