// Serves the mcp composition on stdio; whoever started it changes rows by message, and is told what became of that.
import { compositions } from '@tenon/catalog'
import { definePlugin } from '@tenon/kernel'
import { StandardStreams } from '@tenon/plugin-mcp-server'
import { openRuntime } from '@tenon/runtime'

const runtime = await openRuntime({ catalog: compositions.mcp })
const released = async () => {
  await runtime.close()
  process.disconnect()
}
const streams = definePlugin({
  name: 'standard-streams',
  provides: [StandardStreams],
  activate: (scope) => scope.provide(StandardStreams, { row: 'mcp', process, released }),
})
runtime.kernel.load(streams)

process.on('message', async ({ set, reload, disable, enable }) => {
  try {
    const edits = []
    if (set) edits.push(await runtime.apply({ set }))
    for (const id of reload ?? []) edits.push(await runtime.reload(id))
    if (disable) edits.push(await runtime.apply({ disable }))
    if (enable) edits.push(await runtime.apply({ enable }))
    const touched = edits.flatMap(({ reconfigured, replaced, removed, added }) => [...reconfigured, ...replaced, ...removed, ...added])
    process.send({ touched, rolledBack: edits.find(({ rolledBack }) => rolledBack)?.rolledBack.message })
  } catch (error) {
    process.send({ error: String(error) })
  }
})
