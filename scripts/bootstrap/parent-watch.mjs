const LOOK_MS = 250

/**
 * Ends this process as SIGTERM does when the shell that `npm run` started it in has gone.
 *
 * npm hands a signal on to the shell only, and a shell such as dash dies of it without a word to what it runs: killing `npm start`
 * would leave the console and everything below it running. Asking for the parent now and then is the one way to know; it costs
 * a system call. Without npm in between, nothing is watched: a background process may outlive the shell it was started from.
 */
export function endWithParent() {
  if (!process.env.npm_lifecycle_event || process.platform === 'win32') return
  const parent = process.ppid
  const timer = setInterval(() => {
    if (process.ppid === parent) return
    clearInterval(timer)
    process.kill(process.pid, 'SIGTERM')
  }, LOOK_MS)
  timer.unref()
}
