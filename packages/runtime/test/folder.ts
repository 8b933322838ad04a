import { mkdir, mkdtemp, realpath, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { onTestFinished } from 'vitest'

export interface Folder {
  readonly path: string
  file(name: string): string
  write(name: string, text: string): Promise<string>
}

/** A folder of the test's own, gone when it ends. */
export async function folder(files: Readonly<Record<string, string>> = {}): Promise<Folder> {
  const root = await realpath(await mkdtemp(path.join(tmpdir(), 'tenon-runtime-')))
  onTestFinished(() => rm(root, { recursive: true, force: true }))
  const file = (name: string): string => path.join(root, name)
  const write = async (name: string, text: string): Promise<string> => {
    await mkdir(path.dirname(file(name)), { recursive: true })
    await writeFile(file(name), text)
    return file(name)
  }
  for (const [name, text] of Object.entries(files)) await write(name, text)
  return { path: root, file, write }
}
