// Stands in for the test runner: says how it was called, and ends as it is told.
import { pid } from 'node:process'

const { NODE_ENV, npm_config_omit } = process.env
console.log(JSON.stringify({ args: process.argv.slice(2), cwd: process.cwd(), pid, env: { NODE_ENV, npm_config_omit } }))
const wanted = process.argv.find((argument) => argument.startsWith('--end-with='))
process.exitCode = Number(wanted?.slice('--end-with='.length) ?? 0)
