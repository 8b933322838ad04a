// Answers each JSON-RPC request, one a line, with its own parameters.
import { once } from 'node:events'
import { createInterface } from 'node:readline'

for await (const line of createInterface({ input: process.stdin, crlfDelay: Number.POSITIVE_INFINITY })) {
  const { id, params } = JSON.parse(line)
  if (!process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', id, result: params })}\n`)) await once(process.stdout, 'drain')
}
