export { ShellToolConfig } from './config.ts'
export { bashDialect, pwshDialect, type ShellToolWords, type ToolDialect } from './dialect.ts'
export { installShellTool, type ShellToolParts } from './install.ts'
export type { ShellToolValue } from './value.ts'
