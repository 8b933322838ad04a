// A launcher that greets as it should, and then does something else with the first command it is given.
import { spawn } from 'node:child_process'
import { openSync, unlinkSync } from 'node:fs'
import { connect } from 'node:net'
import { text } from 'node:stream/consumers'
import { encodeFrame, FrameReader } from '../../dist/launch/frames.js'
import { HostLauncher } from '../../dist/launch/host-launcher.js'
import { StartLedger } from '../../dist/launch/start-ledger.js'
import { LinuxTable } from '../../dist/tree/linux-table.js'

const { socket: path, ledger: ledgerPath, token, version } = JSON.parse(await text(process.stdin))
const socket = connect(path)
const say = (message) => socket.write(encodeFrame(message))
const leave = () => process.kill(process.pid, 'SIGKILL')
const nothing = () => undefined
const ledger = new StartLedger(openSync(ledgerPath, 'r+'))

function start({ id, claim, plan }, exited) {
  const events = { started: nothing, failed: nothing, revoked: nothing, exited, fault: nothing }
  const { pid } = new HostLauncher(spawn, process.platform).launch(plan, {}, events).process
  unlinkSync(claim)
  return () => ledger.write(id, { pid, start: new LinuxTable('').read(pid)?.start })
}

const ways = {
  /** What nobody understands. */
  garbage: () => socket.write('garbage, and more of it'),
  /** What is framed well, and means nothing. */
  unknown: () => say({ type: 'hooray' }),
  /** The beginning of an answer, and no more. */
  half: ({ id }) => socket.write(encodeFrame({ type: 'started', id, pid: 1 }).subarray(0, 9)),
  /** Its last word, and the end. */
  crash() {
    say({ type: 'crashed', stack: 'Error: the very fault' })
    socket.end()
  },
  /** Nothing. */
  silence: nothing,
  /** An answer to what nobody asked, and one that comes too early; then the end. */
  confused({ id }) {
    say({ type: 'exited', id: id + 1_000, exitCode: 0, signal: null })
    say({ type: 'pong' })
    say({ type: 'revoked', id: id + 1_000 })
    setTimeout(leave, 100)
  },
  /** Dies with the launch claimed, and nothing started. */
  claimed({ claim }) {
    unlinkSync(claim)
    leave()
  },
  /** Dies with the program started, nobody told, and nothing written down. */
  started(message) {
    start(message, nothing)
    leave()
  },
  /** Dies with the program forked, which is a tenth of a second from being executed. */
  forked(message) {
    const { argv, env } = message.plan
    const words = ['sh', '-c', 'sleep 0.1; exec env -i "$@"', 'sh', ...Object.entries(env).map((each) => each.join('=')), ...argv]
    start({ ...message, plan: { ...message.plan, argv: words, env: process.env } }, nothing)
    leave()
  },
  /** Dies with the program started and written down, and nobody told. */
  noted(message) {
    start(message, nothing)()
    leave()
  },
  /** The same, with the program at its end. */
  ended(message) {
    start(message, leave)()
  },
  /** The same without a note. */
  forgotten(message) {
    start(message, leave)
  },
}

socket.on('connect', () => say({ type: 'hello', version, token }))
const reader = new FrameReader()
socket.on('data', (chunk) => {
  // The FIFOs of the stock are made by commands too.
  for (const message of reader.push(chunk)) if (message.claim !== undefined) ways[process.argv[2]](message)
})
socket.on('close', () => process.exit(0))
