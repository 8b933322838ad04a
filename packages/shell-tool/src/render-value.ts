import { renderResult } from '@tenon/shell'
import type { Content } from '@tenon/tools'
import { background, promoted } from './text.ts'
import type { ShellToolValue } from './value.ts'

export function renderValue(value: ShellToolValue): readonly Content[] {
  return [{ type: 'text', text: textOf(value) }]
}

function textOf(value: ShellToolValue): string {
  switch (value.kind) {
    case 'background':
      return background(value.jobId, value.timeoutIgnored === true)
    case 'promoted':
      return promoted(value.output, value.timeoutMs, value.jobId)
    case 'foreground':
      return renderResult(value, value.stopped === undefined ? {} : { stopped: value.stopped })
    default:
      return value satisfies never
  }
}
