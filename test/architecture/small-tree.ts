import type { SourceTree } from './source-tree.ts'

/** A workspace in which every rule holds; `changes` plant a violation, undefined takes a file away. */
export function smallTree(changes: Readonly<Record<string, string | undefined>> = {}): SourceTree {
  const files: Record<string, string | undefined> = {
    'package.json': '{ "name": "tenon", "private": true, "devDependencies": { "vitest": "4.1.12" } }',
    'pnpm-workspace.yaml': 'catalog: { vitest: 4.1.12 }',
    'pnpm-lock.yaml': 'lockfileVersion: 9',
    'tsconfig.json': tsconfig([
      './packages/kernel',
      './packages/subprocess',
      './packages/shell',
      './packages/local-shell',
      './plugins/local-bash',
      './catalog',
    ]),
    ...member('packages/kernel', ['tsyringe'], `export * from './construct.ts'`),
    'packages/kernel/src/construct.ts': `import 'tsyringe'`,
    ...member('packages/subprocess', ['@tenon/kernel'], `export * from './subprocess.ts'`),
    'packages/subprocess/src/subprocess.ts': contract('subprocess'),
    ...member('packages/shell', ['@tenon/kernel', '@tenon/subprocess'], `export * from './shell.ts'`),
    'packages/shell/src/shell.ts': `import type { Subprocess } from '@tenon/subprocess'\n${contract('shell')}`,
    ...member('packages/local-shell', ['@tenon/shell'], `export * from '@tenon/shell'`),
    ...member('plugins/local-bash', ['@tenon/kernel', '@tenon/local-shell'], plugin('local-bash')),
    ...member('catalog', ['@tenon/plugin-local-bash'], `export { default as bash } from '@tenon/plugin-local-bash'`),
    'test/package.json': '{ "name": "@tenon/test", "private": true, "dependencies": { "@tenon/catalog": "workspace:^" } }',
    'test/boot.spec.ts': `import '@tenon/catalog'\nimport { it } from 'vitest'`,
    ...changes,
  }
  return new Map(Object.entries(files).filter((file): file is [string, string] => file[1] !== undefined))
}

export function contract(key: string): string {
  return `import { capability } from '@tenon/kernel'\nexport const C = capability<unknown>('${key}')`
}

export function plugin(name: string): string {
  return `import { definePlugin } from '@tenon/kernel'\nimport '@tenon/local-shell'\nexport default definePlugin({ name: '${name}', activate() {} })`
}

export function manifest(folder: string, dependencies: readonly string[], changes: Readonly<Record<string, unknown>> = {}): string {
  return JSON.stringify({
    name: folder.replace('plugins/', '@tenon/plugin-').replace(/^(packages\/)?(?=\w)/, '@tenon/'),
    version: '0.0.0',
    description: 'One of the small tree.',
    license: 'MIT',
    type: 'module',
    sideEffects: false,
    engines: { node: '>=20.19' },
    exports: {
      '.': { '@tenon/source': './src/index.ts', types: './dist/index.d.ts', default: './dist/index.js' },
      './package.json': './package.json',
    },
    files: ['dist'],
    dependencies: Object.fromEntries(dependencies.map((name) => [name, name.startsWith('@tenon/') ? 'workspace:^' : 'catalog:'])),
    ...changes,
  })
}

function member(folder: string, dependencies: readonly string[], index: string): Record<string, string> {
  const up = folder === 'catalog' ? '..' : '../..'
  const own = dependencies.filter((name) => name.startsWith('@tenon/')).map((name) => name.slice('@tenon/'.length))
  const references = own.map((name) => (name.startsWith('plugin-') ? `${up}/plugins/${name.slice('plugin-'.length)}` : `${up}/packages/${name}`))
  return {
    [`${folder}/package.json`]: manifest(folder, dependencies),
    [`${folder}/tsconfig.json`]: tsconfig(references),
    [`${folder}/README.md`]: '# One sentence\n',
    [`${folder}/src/index.ts`]: index,
  }
}

function tsconfig(references: readonly string[]): string {
  return JSON.stringify({ references: references.map((path) => ({ path })) })
}
