import type { ForkShape, Pace, Scenario, Shape, Step } from './scenario.ts'

/** A scenario as a person would tell it; a Disagreement adds what came of it. */
export function tell({ rows, contested, boot, steps, order }: Scenario): string {
  const codes = rows.flatMap(({ codes, id, optional }) =>
    codes.map((shape, code) => `${id}${optional ? ' (optional)' : ''}, code ${code}: ${describeShape(shape)}`),
  )
  const script = [
    ...boot.map((load) => describeStep({ do: 'load', ...load }, rows[load.row]?.id ?? '')),
    ...steps.flatMap((step) =>
      step.do === 'transaction'
        ? [step.sabotaged ? 'sabotaged transaction' : 'transaction', ...step.edits.map((edit) => `  . ${describeStep(edit, `#${edit.row}`)}`)]
        : [describeStep(step, 'row' in step ? `#${step.row}` : '')],
    ),
  ]
  return ['', contested ? 'contested' : 'uncontested', ...codes, ...script, `settling in the order ${order.join(' ') || 'of waiting'}`, ''].join('\n')
}

export function describeStep(step: Step, id: string): string {
  switch (step.do) {
    case 'load':
    case 'replace':
    case 'flap':
      return `${step.do} ${id} with code ${step.code}, ${JSON.stringify(step.config)}`
    case 'reconfigure':
      return `reconfigure ${id} to ${JSON.stringify(step.config)}`
    case 'unload':
    case 'ready':
      return `${step.do} ${id}`
    case 'open':
      return `open ${step.gate}`
    default:
      return step.do
  }
}

function describeShape({ name, needs, offers, forks, pace, obedient, keeps, failsOn, dislikes, leavesOn }: Shape): string {
  return [
    name,
    needing(needs, offers),
    describePace(pace),
    obedient ? 'obedient' : '',
    keeps === 'nothing' ? '' : `keeps a ${keeps} value`,
    failsOn === undefined ? '' : `fails on n ${failsOn}`,
    disliking(dislikes),
    leavesOn === undefined ? '' : `leaves on n ${leavesOn}`,
    ...forks.map(describeFork),
  ]
    .filter((part) => part !== '')
    .join(', ')
}

function describeFork({ needs, offers, otherwise, pace, dislikes, inner }: ForkShape): string {
  const parts = [
    needing(needs, offers),
    otherwise === 'none' ? '' : `otherwise ${otherwise}`,
    describePace(pace),
    disliking(dislikes),
    inner === undefined ? '' : describeFork(inner),
  ]
  return `fork(${parts.filter((part) => part !== '').join(', ')})`
}

function needing(needs: readonly number[], offers: readonly number[]): string {
  const list = (capabilities: readonly number[]): string => capabilities.map((capability) => `c${capability}`).join(' ')
  return [needs.length > 0 ? `needs ${list(needs)}` : '', offers.length > 0 ? `offers ${list(offers)}` : ''].filter((part) => part !== '').join(', ')
}

function describePace({ up, down }: Pace): string {
  return [up ? 'slow up' : '', down ? 'slow down' : ''].filter((part) => part !== '').join(', ')
}

function disliking(flavour: number | undefined): string {
  return flavour === undefined ? '' : `dislikes ${flavour}`
}
