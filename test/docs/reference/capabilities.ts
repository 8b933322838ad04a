import { Reconciling } from '@tenon/kernel'
import type { PluginReference } from '@tenon/runtime'
import ts from 'typescript'
import { type Declarations, documentationOf, isExported } from './declarations.ts'
import { code, page } from './page.ts'

interface Found {
  readonly key: string
  readonly token: string
  readonly from: string
  readonly source: ts.SourceFile
}

/** Every capability with a contract in this repository: what it promises, who provides it and who needs it. */
export function capabilitiesPage(declarations: readonly Declarations[], plugins: readonly PluginReference[]): string {
  const found = declarations.flatMap(tokensIn).toSorted((a, b) => (a.key < b.key ? -1 : 1))
  const introduction =
    'Interface and token have one name; the promises stand on the interface. A plugin lists here what it cannot be without; what it uses where it is there, its README tells.'
  return page(
    'Capabilities',
    introduction,
    found.map((one) => section(one, plugins)),
  )
}

function tokensIn({ package: from, source }: Declarations): readonly Found[] {
  return source.statements
    .filter(ts.isVariableStatement)
    .filter(isExported)
    .flatMap(({ declarationList }) =>
      declarationList.declarations.flatMap(({ name, initializer }) => {
        if (initializer === undefined || !ts.isCallExpression(initializer) || initializer.expression.getText() !== 'capability') return []
        const [key] = initializer.arguments
        return key !== undefined && ts.isStringLiteral(key) ? [{ key: key.text, token: name.getText(), from, source }] : []
      }),
    )
}

function section({ key, token, from, source }: Found, plugins: readonly PluginReference[]): string {
  const names = (list: readonly PluginReference[]): string => list.map(({ name }) => code(name)).join(', ')
  const provided = names(plugins.filter(({ provides }) => provides.includes(key)))
  const needed = names(plugins.filter(({ injects }) => injects.includes(key)))
  const contract = source.statements.filter(ts.isInterfaceDeclaration).find(({ name }) => name.text === token)
  const provider = key === Reconciling.key ? 'the kernel' : provided || 'no plugin here'
  const users = needed === '' ? '' : `; injected by ${needed}`
  const parts = [`## ${key}`, `${code(token)} of ${code(from)}. Provided by ${provider}${users}.`]
  return contract === undefined ? parts.join('\n\n') : [...parts, ...promises(contract)].join('\n\n')
}

function promises(contract: ts.InterfaceDeclaration): readonly string[] {
  return [documentationOf(contract), contract.members.map(member).join('\n')].filter((part) => part !== '')
}

/** A member as it is declared, and what is said of it. */
function member(declared: ts.TypeElement): string {
  const signature = declared
    .getText()
    .replace(/\s*\n\s*/g, ' ')
    .replace(/\( /g, '(')
    .replace(/, \)/g, ')')
  const about = documentationOf(declared)
    .replace(/\s*\n\s*/g, ' ')
    .replace(/@throws/g, 'Throws')
  return `- ${code(signature)}${about === '' ? '' : ` – ${about}`}`
}
