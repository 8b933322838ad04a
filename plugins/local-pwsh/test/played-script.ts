import { fileURLToPath } from 'node:url'
import type { Step } from '@tenon/shell/conformance'

/** The stand-in for PowerShell; see there. */
export const STAND_IN = fileURLToPath(new URL('./programs/pwsh.mjs', import.meta.url))

/** A text that is a comment to PowerShell, and tells the stand-in what to do. */
export function playedScript(steps: readonly Step[]): string {
  return `#play ${JSON.stringify(steps)}`
}

export function longPlayedScript(length: number, text: string, code: number): string {
  return `${playedScript([
    { do: 'print', text },
    { do: 'exit', code },
  ])}\n#${'x'.repeat(length)}`
}
