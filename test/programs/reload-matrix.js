// Changes the row of the default composition that is the argument (`all` for every one) under live work, and tells what became of that.
import { LiveWork } from './live-work.js'

/** Of each row: an option with a value other than its default, and the rows that cannot be without it. */
const ROWS = {
  jobs: { option: { settledPerOwner: 150 }, dependents: ['tool-jobs'] },
  shell: { option: { timeoutMs: 110_000 }, dependents: ['tool-bash'] },
  'shell-env': { option: { home: '/home/ada' }, dependents: ['tool-bash'] },
  subprocess: { option: { killWaitMs: 4_000 }, dependents: ['shell', 'tool-bash'] },
  'system-prompt': { option: { sectionBudgetMs: 900 }, dependents: ['tool-bash', 'tool-jobs'] },
  'tool-bash': { option: { promoteOnTimeout: false }, dependents: [] },
  'tool-jobs': { option: { defaultWaitMs: 20_000 }, dependents: [] },
  tools: { option: { abortGraceMs: 9_000 }, dependents: ['tool-bash', 'tool-jobs'] },
}
const [, , wanted] = process.argv
const changing = wanted === 'all' ? Object.keys(ROWS) : [wanted]
const settings = Object.fromEntries(changing.flatMap((id) => Object.entries(ROWS[id].option).map(([name, value]) => [`${id}.${name}`, value])))

const told = {
  'config change': await changed((runtime) => runtime.apply({ set: settings })),
  'code reload': await changed((runtime) => Promise.all(changing.map((id) => runtime.reload(id)))),
  'code and config in one transaction': await changed(({ kernel, composition }) =>
    kernel.transaction((tx) => {
      for (const { id, loaded, config } of composition.rows) {
        if (changing.includes(id)) tx.replace(id, { ...loaded.plugin }, { ...config, ...ROWS[id].option })
      }
    }),
  ),
  'removal and re-adding': await removed(),
}
process.stdout.write(JSON.stringify(told))

/** The commands write on while `edit` is under way, and are then brought to their end. */
async function changed(edit) {
  const work = await LiveWork.open()
  const { runtime } = work
  const generations = () => Object.fromEntries(runtime.kernel.inspect().rows.map(({ id, generation }) => [id, generation]))
  const before = generations()
  let isDone = false
  const editing = edit(runtime).finally(() => {
    isDone = true
  })
  await work.due.end()
  while (!isDone) await work.write()
  const edits = [await editing].flat()
  const after = generations()
  await work.end()
  const facts = { changed: changing.every((id) => after[id] > before[id]), takenBack: edits.some(isTakenBack) }
  return { ...facts, ...(await work.outcome()), again: await work.again(), ...(await work.close()) }
}

/** First alone, which is refused if others need it; then with those. What lives on writes on and is brought to its end; then all is added again. */
async function removed() {
  const work = await LiveWork.open()
  const { runtime } = work
  const alone = changing.length > 1 || ROWS[wanted].dependents.length === 0 ? undefined : await refusalOf(runtime.apply({ disable: changing }))
  const leaving = [...new Set(changing.flatMap((id) => [id, ...ROWS[id].dependents]))]
  const edits = [await runtime.apply({ disable: leaving })]
  const alive = { job: work.job.isAlive(), call: work.call.isAlive() }
  await work.write()
  await work.end()
  edits.push(await runtime.apply({ enable: leaving }))
  return { alone, alive, takenBack: edits.some(isTakenBack), ...(await work.outcome()), again: await work.again(), ...(await work.close()) }
}

async function refusalOf(edit) {
  try {
    await edit
    return 'applied'
  } catch (error) {
    return error.diagnostics?.map(({ code }) => code) ?? error.message
  }
}

function isTakenBack({ rolledBack, outcome }) {
  return rolledBack !== undefined || outcome === 'rolled-back'
}
