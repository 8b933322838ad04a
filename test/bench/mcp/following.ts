import { open } from 'node:fs/promises'
import { join } from 'node:path'
import { ResourceUpdatedNotificationSchema } from '@modelcontextprotocol/sdk/types.js'
import { wallClock } from '../measuring/clock.ts'
import { Served } from './servers.ts'

const LINE = 'a line of output of sixty-four bytes, newline included, like log'

/** Fits into one reply. */
const PAGE_BYTES = 60_000

/** What `job_output` says of where it has read to. */
interface Page {
  readonly from: Readonly<Record<string, number>>
  readonly next: Readonly<Record<string, number>>
}

/**
 * MiB per second of a job whose output is followed by `job_output`, without a gap. It writes a page each time the last one has been read:
 * of one that writes faster than anybody reads, what is left out is on disk.
 */
export async function pages(rounds: number, count: number): Promise<Record<string, number[]>> {
  await using tenon = await Served.start('tenon')
  const id = await background(tenon, `while read -r n; do yes '${LINE}' | head -c ${PAGE_BYTES}; echo "end of page $n"; done <go`, 'mkfifo go')
  await using more = await open(join(tenon.folder, 'go'), 'w')
  const rates: number[] = []
  for (let [round, seen] = [-1, 0]; round < rounds; round++) {
    const elapsed = wallClock()
    const before = seen
    for (let page = 0; page < count; page++) {
      await more.write(`${round}.${page}\n`)
      const { structuredContent } = await tenon.call('job_output', { job_id: id, until: `end of page ${round}\\.${page}$` })
      const { from, next } = structuredContent as unknown as Page
      if ((from.stdout ?? 0) !== seen) throw new Error(`a page begins at ${from.stdout}, the one before ended at ${seen}`)
      seen = next.stdout ?? 0
    }
    if (seen - before < count * PAGE_BYTES) throw new Error(`${count} pages of ${PAGE_BYTES} bytes came to ${seen - before}`)
    if (round >= 0) rates.push((seen - before) / 1_024 ** 2 / (elapsed() / 1_000))
  }
  return { rates }
}

/** Of a subscribed resource: MiB per second of reading it again and again, and milliseconds from a write to the news of it. */
export async function resources(rounds: number, reads: number): Promise<Record<string, number[]>> {
  await using tenon = await Served.start('tenon')
  const { client } = tenon
  // Open for writing too: it is not at its end when one who wrote a line has closed it.
  const id = await background(tenon, `yes '${LINE}' | head -c 1048576; exec 3<>go; while read -r line <&3; do echo "$line"; done`, 'mkfifo go')
  const uri = `tenon://jobs/${id}/output`
  let heard = (): void => undefined
  client.setNotificationHandler(ResourceUpdatedNotificationSchema, () => heard())
  await client.subscribeResource({ uri })
  const measured = { rates: [] as number[], told: [] as number[] }
  for (let round = -1; round < rounds; round++) {
    const reading = wallClock()
    let bytes = 0
    for (let read = 0; read < reads; read++) bytes += Buffer.byteLength(await textOf(client, uri))
    const rate = bytes / 1_024 ** 2 / (reading() / 1_000)
    const updated = new Promise<void>((resolve) => {
      heard = resolve
    })
    const waiting = wallClock()
    await tenon.bash(`echo round ${round} >go`)
    await updated
    const told = waiting()
    if (round >= 0) measured.rates.push(rate)
    if (round >= 0) measured.told.push(told)
  }
  return measured
}

async function background(tenon: Served, command: string, before = 'true'): Promise<string> {
  await tenon.bash(before)
  const { structuredContent } = await tenon.call('bash', { command, description: 'write much', run_in_background: true })
  const { jobId } = structuredContent as { readonly jobId?: string }
  if (jobId === undefined) throw new Error(`no job was started: ${JSON.stringify(structuredContent)}`)
  return jobId
}

async function textOf(client: Served['client'], uri: string): Promise<string> {
  const [content] = (await client.readResource({ uri })).contents
  return content !== undefined && 'text' in content ? content.text : ''
}
