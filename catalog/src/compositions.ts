import { fileURLToPath } from 'node:url'

/** The named compositions → absolute path of their file. */
export const compositions = {
  minimal: fileURLToPath(new URL('../minimal.yaml', import.meta.url)),
  default: fileURLToPath(new URL('../default.yaml', import.meta.url)),
  mcp: fileURLToPath(new URL('../mcp.yaml', import.meta.url)),
  windows: fileURLToPath(new URL('../windows.yaml', import.meta.url)),
} as const satisfies Readonly<Record<string, string>>
