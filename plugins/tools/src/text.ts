/** Every word the pipeline says to a model. */
export const text = {
  error: (message: string): string => `Error: ${message}`,
  unknownTool: (name: string, meant: string | undefined): string => `unknown tool ${quote(name)}${didYouMean(meant)}`,
  invalid: (path: string, problem: string): string => `invalid ${path}: ${problem}`,
  unknownArgument: (path: string, meant: string | undefined): string => `unknown argument ${quote(path)}${didYouMean(meant)}`,
  notJson: (problem: string): string => `arguments must be plain JSON: ${problem}`,
  unavailable: (name: string, rows: readonly string[], waitedMs: number): string =>
    `tool ${quote(name)} is unavailable: ${rows.join(', ')} reloading (waited ${waitedMs}ms)`,
  denied: (reason: string): string => `denied: ${reason}`,
  nobodyToAsk: (reason: string): string => `denied: needs approval (${reason}), and nobody can be asked`,
  rejected: (reason: string): string => `denied: rejected by the user (${reason})`,
  approvalCancelled: 'denied: the approval was cancelled',
  policyFailed: (policy: string, message: string): string => `policy ${quote(policy)} failed: ${message}`,
  policyOverran: (policy: string, budgetMs: number): string => `policy ${quote(policy)} took longer than ${budgetMs}ms`,
  invalidResult: (name: string): string => `tool ${quote(name)} returned an invalid result`,
  blocked: (feedback: string): string => `blocked: ${feedback}`,
  aborted: 'tool call aborted',
  unprintable: '<unprintable thrown value>',
  truncated: '[result truncated]',
}

/** A name a model made up may be anything: escaped, and no longer than the longest name a tool can have. */
function quote(name: string): string {
  return JSON.stringify(name.length > 64 ? `${name.slice(0, 64)}…` : name)
}

function didYouMean(meant: string | undefined): string {
  return meant === undefined ? '' : `; did you mean ${quote(meant)}?`
}
