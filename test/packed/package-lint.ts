import { readFile } from 'node:fs/promises'
import { checkPackage, createPackageFromTarballData, type Problem } from '@arethetypeswrong/core'
import { publint } from 'publint'
import { formatMessage } from 'publint/utils'
import type { PackedPackage } from './packed-packages.ts'

/** What publint has against a tarball, suggestions too, in its own words. */
export async function publishFaults({ tarball }: PackedPackage): Promise<readonly string[]> {
  const { messages, pkg } = await publint({ pack: { tarball: await bytesOf(tarball) }, strict: true })
  return messages.map((message) => `${message.type}: ${formatMessage(message, pkg, { color: false }) ?? message.code}`)
}

/**
 * What is wrong with the types of a tarball, whichever supported way they are resolved.
 *
 * The packages are ESM only, and reached through `exports` alone. So two findings are what is meant: `node10`, the way from before Node 12, knows
 * no `exports` and finds no subpath; and a `require` leads to an ES module, which Node does since 20.19, the oldest that is supported.
 */
export async function typeFaults({ tarball }: PackedPackage): Promise<readonly string[]> {
  const contents = createPackageFromTarballData(new Uint8Array(await bytesOf(tarball)))
  const result = await checkPackage(contents, { excludeEntrypoints: ['./package.json'] })
  if (result.types === false) return ['the package has no types']
  return result.problems.filter(isUnmeant).map((problem) => `${problem.kind}: ${JSON.stringify(problem)}`)
}

function isUnmeant(problem: Problem): boolean {
  if (problem.kind === 'CJSResolvesToESM') return false
  if ('resolutionKind' in problem) return problem.resolutionKind !== 'node10'
  return !('resolutionOption' in problem && problem.resolutionOption === 'node10')
}

async function bytesOf(file: string): Promise<ArrayBuffer> {
  const bytes = await readFile(file)
  return bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.byteLength) as ArrayBuffer
}
