// Says `ready`, and on a signal closes as its argument says: at once, never, or with an error. Announcements go to standard output.
import { closeOnSignals } from '@tenon/runtime'

const closings = { quick: async () => {}, never: () => new Promise(() => {}), fails: () => Promise.reject(new Error('no')) }
closeOnSignals({
  close: closings[process.argv[2]],
  budgetMs: 300,
  announce: (signal, forced) => process.stdout.write(`${signal} ${forced ?? 'first'}\n`),
})
setInterval(() => {}, 1_000_000)
process.stdout.write('ready\n')
