// Opens the default composition and changes every row under a running command; tells what became of commands and edits.
import { spawnSync } from 'node:child_process'
import { mkdtemp, open, rm } from 'node:fs/promises'
import { compositions } from '@tenon/catalog'
import { openRuntime } from '@tenon/runtime'
import { openSession } from '@tenon/session'
import { Tools } from '@tenon/tools'

const runtime = await openRuntime({ catalog: compositions.default })
const session = openSession(runtime.kernel.scope, { id: 'test', cwd: process.cwd() })
const rows = runtime.composition.rows.filter(({ state }) => state === 'active').map(({ id }) => id)

/** Runs `edit` once the command has said its first word; the command ends when it has been told that the edit is done. */
async function under(edit) {
  const folder = await mkdtemp('/tmp/tenon-reload-')
  spawnSync('mkfifo', [`${folder}/begun`, `${folder}/go`])
  const command = `echo $$; echo begun > ${folder}/begun; for i in 1 2 3; do echo $i; done; cat ${folder}/go; echo $$; echo end`
  const request = { name: 'bash', arguments: { command, description: 'run under an edit' }, session, signal: session.scope.signal }
  const running = runtime.get(Tools).execute(request)
  const begun = await open(`${folder}/begun`, 'r')
  await begun.readFile()
  const edits = await edit()
  const go = await open(`${folder}/go`, 'w')
  await go.writeFile('go\n')
  await go.close()
  await begun.close()
  const result = await running
  await rm(folder, { recursive: true })
  const [pid, ...said] = result.isError ? [result.message] : result.value.stdout.text.trimEnd().split('\n')
  return {
    rolledBack: [edits].flat().some(({ rolledBack }) => rolledBack !== undefined),
    said: said.map((word) => (word === pid ? 'same pid' : word)),
  }
}

const told = {}
for (const id of rows) told[`reload of ${id}`] = await under(() => runtime.reload(id))
told['reload of all at once'] = await under(() => Promise.all(rows.map((id) => runtime.reload(id))))
const set = {
  'shell.timeoutMs': 50_000,
  'tools.abortGraceMs': 9_000,
  'subprocess.killWaitMs': 4_000,
  'tool-bash.promoteOnTimeout': false,
  'system-prompt.sectionBudgetMs': 900,
}
for (const [path, value] of Object.entries(set))
  told[`config of ${path.split('.')[0]}`] = await under(() => runtime.apply({ set: { [path]: value } }))
told['config of all at once'] = await under(() =>
  runtime.apply({ set: Object.fromEntries(Object.entries(set).map(([path, value]) => [path, typeof value === 'number' ? value + 1 : !value])) }),
)
await runtime.close()
process.stdout.write(JSON.stringify(told))
