import { inChild } from './mcp/measure.ts'
import { FULL, mcpFindings, TRIAL } from './mcp/promises.ts'
import { runBench } from './measuring/bench.ts'

/*
 * The cost of a command through MCP, as a client meets it.
 *
 *   npm run bench -- mcp [--quick] [--report FILE]
 *
 * Exit code 1 when a target is missed. `--quick` is a trial of the bench itself: too small to judge or to publish.
 */
await runBench({
  name: 'mcp',
  title: 'MCP',
  about: `\`tenon mcp\` with its built-in composition, and the bare server: one tool of the official SDK's \`McpServer\` that spawns
\`bash\` with nothing but Node and collects its output. Each is a process of its own, started by the official client over stdio. A round trip
is what the client waits; the two servers are called by turns, ratios are taken within each round, and their median judged.`,
  full: FULL,
  trial: TRIAL,
  findings: mcpFindings,
  inChild,
})
