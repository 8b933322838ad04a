import { expect, it } from 'vitest'
import { CompositionError, checkCatalog, openRuntime } from '../src/index.ts'
import { folder } from './folder.ts'
import { quiet } from './journal.ts'

const made = (spec: string): string => `import { capability, definePlugin } from '@tenon/kernel'
export default definePlugin({ name: 'it', activate() {}, ${spec} })
`
const byHand = (spec: string): string => `import { capability } from '@tenon/kernel'
export default { name: 'it', inject: [], provides: [], activate() {}, ${spec} }
`

const REFUSED: readonly (readonly [what: string, code: string, message: RegExp])[] = [
  ['a negative budget', made('budgets: { activationMs: -5 }'), /: budgets\.activationMs is -5; give whole milliseconds from 1 to 2147483647$/],
  ['a budget that is no number', made("budgets: { undoMs: '5s' }"), /: budgets\.undoMs is 5s; give whole milliseconds/],
  ['budgets that are null', byHand('budgets: null'), /has a plugin the kernel does not take: /],
  ["the kernel's own capability", made("provides: [capability('reconciling')]"), /: it provides "reconciling", which the kernel itself provides$/],
  ['a name that is no name', byHand("name: 'Bad Name'"), /: plugin name "Bad Name" is not kebab-case; write it like "local-bash"$/],
  [
    'undefined among what it provides',
    byHand('provides: [undefined]'),
    /: plugin "it": provides\[0\] is undefined \(do two modules import each other\?\)$/,
  ],
  ['undefined among what it injects', byHand('inject: [undefined]'), /: plugin "it": inject\[0\] is undefined/],
  ['null among what it provides', byHand('provides: [null]'), /: plugin "it": provides\[0\] is not a capability; make it with capability\(\)$/],
  ['a key alone for a capability', byHand("inject: [{ key: 'x' }]"), /: plugin "it": inject\[0\] is not a capability/],
]

it.each(REFUSED)('CP-02 a plugin with %s is told at its `use` by the check, and by boot in the same words', async (_, code, message) => {
  const dir = await folder({ 'top.yaml': 'plugins:\n  it: ./it.ts\n  more: ./nope.ts\n', 'it.ts': code })
  const { diagnostics } = await checkCatalog(dir.file('top.yaml'), { firstParty: [] })
  expect(diagnostics).toMatchObject([
    { code: 'PLUGIN_INVALID', row: 'it', line: 2, column: 7, message: expect.stringMatching(message) },
    { code: 'PLUGIN_UNKNOWN', row: 'more', line: 3 },
  ])
  const thrown: unknown = await openRuntime({ catalog: dir.file('top.yaml'), firstParty: [], logger: quiet }).catch((error: unknown) => error)
  expect(thrown).toBeInstanceOf(CompositionError)
  expect((thrown as CompositionError).diagnostics).toEqual(diagnostics)
})

it('CP-02 a plugin made by hand that the kernel takes fits, with budgets and methods of a class', async () => {
  const source = `import { capability } from '@tenon/kernel'
class ByHand { name = 'by-hand'; inject = []; provides = [capability('thing')]; budgets = { activationMs: 5 }; #word = 'up'; activate() { return this.#word } }
export default new ByHand()
`
  const dir = await folder({ 'top.yaml': 'plugins:\n  it: ./it.ts\n', 'it.ts': source })
  const { diagnostics, composition } = await checkCatalog(dir.file('top.yaml'), { firstParty: [] })
  expect(diagnostics).toEqual([])
  expect(composition.rows[0]?.loaded?.plugin.activate({})).toBe('up')
})
