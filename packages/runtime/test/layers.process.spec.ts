import { execFileSync } from 'node:child_process'
import { expect, it } from 'vitest'
import { checkCatalog } from '../src/index.ts'
import { folder } from './folder.ts'

it.runIf(process.platform === 'linux')('CP-04 a pipe and a device are no catalog file, and nobody waits for what may come of them', async () => {
  const dir = await folder()
  execFileSync('mkfifo', [dir.file('pipe.yaml')])
  for (const file of [dir.file('pipe.yaml'), '/dev/tty', '/dev/null']) {
    const { diagnostics, watched } = await checkCatalog(file)
    expect(diagnostics).toMatchObject([{ code: 'CATALOG_UNREADABLE', message: expect.stringContaining(`cannot read the catalog file ${file}: `) }])
    expect([...watched.values()]).toEqual(['missing'])
  }
})
