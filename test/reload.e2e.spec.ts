import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { compositions } from '@tenon/catalog'
import { checkCatalog } from '@tenon/runtime'
import { beforeAll, describe, expect, it } from 'vitest'

const run = promisify(execFile)
const program = fileURLToPath(new URL('./programs/reload-matrix.js', import.meta.url))

/** What became of one change, and of the work under it. */
interface Told {
  readonly takenBack: boolean
  /** Whether each row has begun anew. */
  readonly changed?: boolean
  /** What was said of removing it without the rows that need it. */
  readonly alone?: readonly string[]
  /** After a removal: whether the processes are there. */
  readonly alive?: object
  readonly call: object | string
  readonly follower: object
  readonly reader: string
  readonly again: string
  readonly notices: object
  readonly faults: readonly string[]
}

const EDITS = ['config change', 'code reload', 'code and config in one transaction'] as const
const ROWS = ['jobs', 'shell', 'shell-env', 'subprocess', 'system-prompt', 'tool-bash', 'tool-jobs', 'tools']

/** `whole`: from the first line to the last, without a gap or a repeat, by one process. */
const UNHARMED = {
  alive: { job: true, call: true },
  job: { follower: { outcome: 'exit code: 3', text: 'whole' }, reader: 'whole' },
  call: { exitCode: 5, signal: null, text: 'whole' },
  notices: { queued: 1, job: 1, due: 1 },
}
type Fate = Omit<typeof UNHARMED, 'call'> & { readonly call: object | string }

/** Rows that others cannot be without. */
const NEEDED = new Set(['jobs', 'shell', 'shell-env', 'subprocess', 'system-prompt', 'tools'])

const cutShort = (outcome: string) => ({ follower: { outcome, text: 'beginning' }, reader: 'beginning' })
const GONE = { job: false, call: false }
const WITH_REGISTRY: Fate = {
  alive: GONE,
  job: cutShort('signal: SIGTERM; job registry closed'),
  call: { exitCode: null, signal: 'SIGTERM', stopped: 'job registry closed', text: 'beginning' },
  notices: { queued: 1, job: 0, due: 0 },
}
/** What ends with a row that is removed; other rows hold nothing of the work. */
const REMOVED: Readonly<Record<string, Fate>> = {
  all: WITH_REGISTRY,
  jobs: WITH_REGISTRY,
  subprocess: {
    ...UNHARMED,
    alive: GONE,
    job: cutShort('signal: SIGTERM'),
    call: { exitCode: null, signal: 'SIGTERM', text: 'beginning' },
  },
  tools: { ...UNHARMED, alive: { job: true, call: false }, call: 'TOOL_ABORTED' },
}

it('CP-09 the matrix has every row of the default composition', async () => {
  const { composition } = await checkCatalog(compositions.default)
  expect(composition.rows.map(({ id }) => id).toSorted()).toEqual(ROWS)
})

it.each([
  ['whole', 'pid 7\n1\n2\n3\npid 7\n'],
  ['beginning', 'pid 7\n1\n2'],
  ['beginning', 'pid 7\n1\n2\n3\n'],
  ['a gap', 'pid 7\n1\n3\npid 7\n'],
  ['a repeat', 'pid 7\n1\n2\n2\n3\npid 7\n'],
  ['no end', 'pid 7\n1\n2\n3\npid 7'],
  ['another process', 'pid 7\n1\n2\n3\npid 8\n'],
])('CP-09 what is judged: %s', async (judged, text) => {
  const feed = fileURLToPath(new URL('./programs/feed.js', import.meta.url))
  const { verdict } = (await import(feed)) as { verdict(text: string, pid: number, lines: number): string }
  expect(verdict(text, 7, 3)).toBe(['whole', 'beginning'].includes(judged) ? judged : text)
})

describe.each([...ROWS, 'all'])('row: %s', (row) => {
  let told: Readonly<Record<string, Told>>
  beforeAll(async () => {
    const { stdout, stderr } = await run(process.execPath, [program, row], { timeout: 100_000 })
    expect(stderr).toBe('')
    told = JSON.parse(stdout) as typeof told
  })

  describe.each(EDITS)('%s', (edit) => {
    it('CP-09 it begins anew, nothing is taken back, no undo fails, and new calls work', () => {
      expect(told[edit]).toMatchObject({ changed: true, takenBack: false, faults: [], again: 'again\n' })
    })

    it('CP-09 a background job keeps its pid, and the model reads on without a gap or a repeat', () => {
      expect(told[edit]?.reader).toBe('whole')
    })

    it('CP-09 a waiting foreground call returns its real result', () => {
      expect(told[edit]?.call).toEqual(UNHARMED.call)
    })

    it('CP-09 a follower sees every byte once, and the end', () => {
      expect(told[edit]?.follower).toEqual(UNHARMED.job.follower)
    })

    it('CP-09 notices that are queued, that come due meanwhile and afterwards arrive once', () => {
      expect(told[edit]?.notices).toEqual(UNHARMED.notices)
    })
  })

  it('CP-09 removal and re-adding: what the row kept ends in order, the rest goes on, and each is told once', () => {
    const { alive, job, call, notices } = REMOVED[row] ?? UNHARMED
    const orderly = { takenBack: false, faults: [], again: 'again\n' }
    const { alone, ...rest } = told['removal and re-adding'] ?? {}
    // Alone it is not removed while others need it: the edit is refused, and nothing has changed.
    expect(new Set(alone)).toEqual(new Set(NEEDED.has(row) ? ['CAPABILITY_MISSING'] : []))
    expect(rest).toEqual({ alive, ...job, call, notices, ...orderly })
  })
})
