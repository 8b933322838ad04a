import { Scope } from '@tenon/kernel'
import { type Tool, Tools } from '@tenon/tools'
import { z } from 'zod'
import { type Composition, tools } from './compositions.ts'
import { perCall } from './rounds.ts'

/** Microseconds of a call whose body does nothing, with one tool and with many. */
export async function pipeline(rounds: number, calls: number, many: number): Promise<Record<string, number[]>> {
  const [one, crowd] = [await toolsOf(1), await toolsOf(many)]
  const run = (composition: Composition, name: string) => async (count: number) => {
    for (let call = 0; call < count; call++) await composition.call(name, ARGUMENTS)
  }
  const measured = await perCall(rounds, calls, { one: run(one, 'tool-0'), many: run(crowd, `tool-${many >> 1}`) })
  await Promise.all([one.close(), crowd.close()])
  return measured
}

/** Microseconds of `get`, and of a `view` that did not change. */
export async function lookups(rounds: number, calls: number, many: number): Promise<Record<string, number[]>> {
  const composition = await toolsOf(many)
  const registry = composition.get(Tools)
  let found = 0
  const measured = await perCall(rounds, calls, {
    get(count) {
      for (let call = 0; call < count; call++) if (registry.get('tool-0') !== undefined) found++
    },
    view(count) {
      for (let call = 0; call < count; call++) found += registry.view().tools.length
    },
  })
  if (found === 0) throw new Error('nothing was found')
  await composition.close()
  return measured
}

/** How many input schemas are converted when one of many tools changes, and the microseconds until the next view. */
export async function conversions(rounds: number, many: number): Promise<Record<string, number[]>> {
  let converted = 0
  const composition = await tools()
  const registry = composition.get(Tools)
  for (let index = 0; index < many; index++)
    registry.register(
      composition.kernel.scope,
      tool(index, () => converted++),
    )
  registry.view()
  const measured: { converted: number[]; us: number[] } = { converted: [], us: [] }
  for (let round = 0; round < rounds; round++) {
    await using scope = new Scope('bench')
    converted = 0
    const began = performance.now()
    registry.register(
      scope,
      tool(many >> 1, () => converted++, `another ${round}`),
    )
    registry.view()
    measured.us.push((performance.now() - began) * 1_000)
    measured.converted.push(converted)
  }
  await composition.close()
  return measured
}

async function toolsOf(count: number): Promise<Composition> {
  const composition = await tools()
  const registry = composition.get(Tools)
  for (let index = 0; index < count; index++) registry.register(composition.kernel.scope, tool(index))
  registry.view()
  return composition
}

const ARGUMENTS = { command: 'make', description: 'build everything', timeoutMs: 1_000 }

function tool(index: number, converting: () => unknown = () => undefined, description = 'does nothing'): Tool {
  const command = z.string()
  command._zod.toJSONSchema = () => {
    converting()
    return { type: 'string' }
  }
  return {
    name: `tool-${index}`,
    description,
    input: z.strictObject({ command, description: z.string(), timeoutMs: z.number().optional(), workdir: z.string().optional() }),
    output: z.strictObject({ text: z.string() }),
    execute: async () => ({ text: 'done' }),
    render: (value) => [{ type: 'text', text: (value as { readonly text: string }).text }],
  }
}
