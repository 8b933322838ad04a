import { randomUUID } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { AbortHub } from '@tenon/abort-hub'
import type { Collect } from '@tenon/subprocess'
import { onTestFinished } from 'vitest'
import { PrivateDirectory } from '../src/channel/private-directory.ts'
import { systemClock } from '../src/clock.ts'
import { Capture } from '../src/output/capture.ts'
import { CapturedOutput } from '../src/output/captured-output.ts'
import { type SpillFiles, type SpillLimits, SpillShelf, systemFiles } from '../src/output/spill-shelf.ts'
import { Warnings } from '../src/warnings.ts'

export interface OpenedShelf {
  readonly shelf: SpillShelf
  readonly directory: PrivateDirectory
  /** Messages of warnings. */
  readonly warned: string[]
  capture(collect: Collect): { capture: Capture; reader: CapturedOutput }
}

/** Captures without processes, over real files unless some operation is replaced. */
export function openShelf(limits: Partial<SpillLimits> = {}, files: Partial<SpillFiles> = {}): OpenedShelf {
  const base = mkdtempSync(join(tmpdir(), 'capture-test-'))
  const warned: string[] = []
  let nowMs = 0
  const nothing = (): void => undefined
  const warnings = new Warnings({ debug: nothing, error: nothing, warn: (_facts, message) => void warned.push(message) })
  const directory = new PrivateDirectory([base], '{}', nothing)
  // Time enough between any two writes for a look at the file.
  const now = (): number => {
    nowMs += 1_000
    return nowMs
  }
  const outside = { files: { ...systemFiles, ...files }, randomName: randomUUID, clock: { ...systemClock, now } }
  const shelf = new SpillShelf(directory, warnings, { minFreeBytes: 0, retainedSpillBytes: 2 ** 40, ...limits }, outside)
  onTestFinished(async () => {
    shelf.withdrawAll()
    await directory.remove()
    rmSync(base, { recursive: true, force: true })
  })
  const capture: OpenedShelf['capture'] = (collect) => {
    const made = new Capture(collect, shelf)
    return { capture: made, reader: new CapturedOutput(made, new AbortHub()) }
  }
  return { shelf, directory, warned, capture }
}
