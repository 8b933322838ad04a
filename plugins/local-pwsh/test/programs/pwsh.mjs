#!/usr/bin/env node
// A PowerShell for machines that have none. It writes what it was started with to the file $PWSH_RECORD names, then plays what the line
// `#play JSON` of its script tells it to: the steps of the conformance suite. What a real one makes of a script is not its business.
import { spawn } from 'node:child_process'
import { closeSync, readFileSync, readSync, writeFileSync, writeSync } from 'node:fs'
import { setTimeout as wait } from 'node:timers/promises'

const text = process.argv.at(-1) ?? ''
const file = /& '(.*\.ps1)'/.exec(text)?.[1]?.replaceAll("''", "'")
const contents = file === undefined ? undefined : readFileSync(file, 'utf8')
const { PWSH_RECORD: record } = process.env
if (record !== undefined) {
  const stdin = readAll()
  writeFileSync(
    record,
    JSON.stringify({ argv: process.argv.slice(2), env: process.env, cwd: process.cwd(), stdin: stdin.toString(), file, contents }),
  )
}
const steps = /#play (.*)/.exec(contents ?? text)?.[1]
for (const step of JSON.parse(steps ?? '[]')) await play(step)

async function play(step) {
  const to = step.to === 'stderr' || step.holds === 'stderr' ? 2 : 1
  switch (step.do) {
    case 'print':
      return writeAll(to, Buffer.from(step.text))
    case 'write':
      return writeAll(to, Buffer.from(step.bytes))
    case 'count':
      return writeAll(to, Buffer.from(Array.from({ length: step.upTo }, (_, n) => `${n + 1}\n`).join('')))
    case 'env':
      return writeAll(to, Buffer.from(process.env[step.name] ?? '<unset>'))
    case 'cwd':
      return writeAll(to, Buffer.from(process.cwd()))
    case 'cat':
      return writeAll(to, readAll())
    case 'closeStdin':
      return closeSync(0)
    case 'touch':
      return writeFileSync(step.file, '')
    case 'sleep':
      return wait(step.ms)
    case 'linger':
      return new Promise(() => setInterval(() => undefined, 60_000))
    case 'onTerm':
      return process.on('SIGTERM', async () => {
        if (step.waitMs !== undefined) await wait(step.waitMs)
        writeAll(1, Buffer.from(step.text))
        if (step.exitCode !== undefined) process.exit(step.exitCode)
      })
    case 'leave': {
      const command = step.ticks ? 'while :; do echo tick; sleep 0.02; done' : `exec sleep ${step.ms / 1000}`
      const stdio = ['ignore', step.holds === 'stderr' ? 'ignore' : 'inherit', 'inherit']
      return spawn('sh', ['-c', command], { stdio, detached: step.apart === true }).unref()
    }
    case 'die':
      process.kill(process.pid, step.signal)
      return wait(60_000)
    case 'exit':
      return process.exit(step.code)
    default:
      throw new Error(`cannot play ${JSON.stringify(step)}`)
  }
}

function writeAll(fd, bytes) {
  for (let at = 0; at < bytes.length; ) at += writeSync(fd, bytes, at)
}

function readAll() {
  const chunks = []
  for (const chunk = Buffer.alloc(65_536); ; ) {
    const count = readSync(0, chunk)
    if (count === 0) return Buffer.concat(chunks)
    chunks.push(Buffer.from(chunk.subarray(0, count)))
  }
}
