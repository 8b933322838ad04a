import { dirname } from 'node:path'
import { fileURLToPath } from 'node:url'
import { catalogJsonSchema, describePlugins } from '@tenon/runtime'
import { describe, expect, it } from 'vitest'
import { capabilitiesPage } from './docs/reference/capabilities.ts'
import { catalogFilePage } from './docs/reference/catalog-file.ts'
import { declarationsIn } from './docs/reference/declarations.ts'
import { errorCodesPage } from './docs/reference/error-codes.ts'
import { pluginsPage } from './docs/reference/plugins.ts'

const root = dirname(dirname(fileURLToPath(import.meta.url)))
const declarations = declarationsIn(root)
const plugins = await describePlugins()

const pages: Readonly<Record<string, string>> = {
  'capabilities.md': capabilitiesPage(declarations, plugins),
  'catalog-file.md': catalogFilePage(await catalogJsonSchema()),
  'error-codes.md': errorCodesPage(declarations),
  'plugins.md': pluginsPage(plugins),
}

describe('the reference', () => {
  it.each(Object.entries(pages))('docs/reference/%s says what the code says; if not, run this file with -u', async (name, text) => {
    await expect(text).toMatchFileSnapshot(`../docs/reference/${name}`)
  })

  it('knows what it is to know', () => {
    for (const key of ['subprocess', 'shell', 'shell-env', 'jobs', 'tools', 'approval', 'system-prompt', 'reconciling']) {
      expect(pages['capabilities.md']).toContain(`\n## ${key}\n`)
    }
    for (const code of ['CAPABILITY_TAKEN', 'JOB_UNKNOWN', 'TOOL_ABORTED', 'SHELL_BAD_CWD', 'ROW_NOT_ACTIVE', 'CATALOG_SYNTAX']) {
      expect(pages['error-codes.md']).toContain(`\`${code}\``)
    }
    expect(pages['error-codes.md']).toMatch(/\| `SHELL_MISSING` \| There is no such shell, or it cannot be run/)
    for (const key of ['extends', 'use', 'with', 'when', 'platform', 'criticality']) expect(pages['catalog-file.md']).toContain(`\`${key}\``)
    for (const { name } of plugins) expect(pages['plugins.md']).toContain(`\n## ${name}\n`)
    for (const name of ['local-bash', 'local-pwsh']) {
      const options = pages['plugins.md']?.split('\n## ').find((section) => section.startsWith(`${name}\n`))
      expect(options).toMatch(/^\| `cwd` \|.* No effect through the shell tools/m)
      expect(options).not.toMatch(/^\| `.*\| +\|$/m)
    }
    expect(pages['plugins.md']).toMatch(/\| `timeoutMs` \| `integer 1\.\.2147483647` \| `120000` \|/)
  })
})
