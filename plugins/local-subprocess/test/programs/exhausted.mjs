// A host that has no descriptor left while its commands run. Facts go to standard output as JSON lines.
import { openSync } from 'node:fs'
import { boot, line, say } from './boot.mjs'

const { kernel, sh } = await boot()

const nonce = (await line(sh('echo $TENON_PROCESS'))).split('.')[0]

/** In the group, out of it, and neither minds TERM. */
async function stubborn(change) {
  const handle = sh('trap "" TERM; setsid sh -c \'trap "" TERM; echo up; while :; do sleep 0.05; done\' & wait', { graceMs: 200, ...change })
  await line(handle)
  return handle
}

function exhaust() {
  try {
    for (;;) openSync('/dev/null', 'r')
  } catch (error) {
    return error.code
  }
}

const scenarios = {
  /** Commands are ended one by one, by signal and by hand, then with the runtime. */
  async ends() {
    const abort = new AbortController()
    const aborted = await stubborn({ signal: abort.signal })
    const terminated = await stubborn()
    const left = await stubborn()
    const code = exhaust()
    abort.abort()
    terminated.terminate()
    const gone = await Promise.all([aborted, terminated].map((handle) => handle.waitForExit(AbortSignal.timeout(10_000))))
    const survivors = await left.survivors()
    const closed = await kernel.close().then(() => 'closed', String)
    say({ nonce, code, gone, survivors, closed, left: await left.waitForExit() })
  },

  async exits() {
    await stubborn()
    process.stdout.write(`${JSON.stringify({ nonce, code: exhaust() })}\n`, () => process.exit(4))
  },
}

await scenarios[process.argv[2]]()
