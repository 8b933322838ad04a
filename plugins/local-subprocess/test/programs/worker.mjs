// A host in a worker thread: runs commands of every kind there and ends, in the way named by the argument, while the main thread has files open.
import { closeSync, fstatSync, openSync, statSync } from 'node:fs'
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads'
import { boot, line, say } from './boot.mjs'

const OWN_FILES = 100

if (isMainThread) {
  const worker = new Worker(new URL(import.meta.url), { workerData: process.argv[2] })
  const { facts, pid } = await new Promise((resolve) => worker.once('message', resolve))
  // They take the numbers of whatever was closed.
  const own = Array.from({ length: OWN_FILES }, () => openSync(import.meta.filename, 'r'))
  const ended = new Promise((resolve) => worker.once('exit', resolve))
  if (process.argv[2] === 'terminate') await worker.terminate()
  else worker.postMessage('end')
  const exitCode = await ended
  const { ino } = statSync(import.meta.filename)
  const isOpen = (descriptor) => {
    try {
      return fstatSync(descriptor).ino === ino
    } catch {
      return false
    }
  }
  const closed = own.filter((descriptor) => !isOpen(descriptor))
  for (const descriptor of own) if (!closed.includes(descriptor)) closeSync(descriptor)
  say({ ...facts, exitCode, closed, pid })
} else {
  const warned = []
  const logger = { debug() {}, info() {}, trace() {}, error() {}, fatal() {}, warn: (...said) => warned.push(said.at(-1)), child: () => logger }
  const { kernel, sh } = await boot({}, logger)
  const commands = () => [
    sh('sleep 0.02; echo captured'),
    sh('cat', { stdin: { data: 'data' } }),
    sh('wc -c', { stdin: { data: 'x'.repeat(2_000_000) } }),
    sh('cat', { stdin: 'pipe' }),
    sh('echo raw', { stdout: 'pipe' }),
    sh('seq 100000', { stdout: { maxBytes: 1_000, spill: { maxBytes: 1_048_576 } } }),
  ]
  const texts = []
  for (let round = 0; round < 8; round++) {
    const handles = commands()
    handles[3].stdin.end('piped')
    const raw = handles[4].stdout.toArray()
    await Promise.all(handles.map(({ done }) => done))
    const read = ({ output }) => output.stdout?.readFrom(0).text.trim().slice(0, 10)
    texts.push(JSON.stringify([...handles.slice(0, 4).map(read), String(await raw).trim(), handles[5].output.stdout.size()]))
  }
  const running = sh('echo up; exec sleep 600')
  await line(running)
  parentPort.postMessage({ facts: { texts: [...new Set(texts)].map((each) => JSON.parse(each)), warned }, pid: running.pid })
  parentPort.once('message', async () => {
    if (workerData === 'exit') process.exit(3)
    await kernel.close()
    parentPort.close()
  })
}
