import { describe, expect, it } from 'vitest'
import { bench, collected, type Open, readAll } from './under-test.ts'

export function describeLookup(open: Open): void {
  describe('resolveExecutable', () => {
    it('SP-53 an absolute path, a bare name and a symbolic link resolve to the canonical path', async () => {
      const { subprocess, sh, directory } = await bench(open)
      const setUp = sh('mkdir bin; printf "#!/bin/sh\\n" > bin/tool; chmod +x bin/tool; ln -s tool bin/link; cd bin; pwd -P')
      await setUp.done
      const bin = readAll(collected(setUp)).trim()
      const env = { PATH: `relative::.:${directory}/bin` }
      expect(await subprocess.resolveExecutable(`${directory}/bin/tool`)).toBe(`${bin}/tool`)
      expect(await subprocess.resolveExecutable('tool', { env })).toBe(`${bin}/tool`)
      expect(await subprocess.resolveExecutable('link', { env })).toBe(`${bin}/tool`)
      const run = sh('true')
      await run.done
      expect(await subprocess.resolveExecutable('sh')).toMatch(/^\//)
    })

    it.each([
      ['', 'EXECUTABLE_INVALID'],
      ['./tool', 'EXECUTABLE_INVALID'],
      ['bin/tool', 'EXECUTABLE_INVALID'],
      ['no-such-program-anywhere', 'EXECUTABLE_NOT_FOUND'],
      ['/no/such/program', 'EXECUTABLE_NOT_FOUND'],
      ['/', 'EXECUTABLE_NOT_RUNNABLE'],
      ['/etc/passwd', 'EXECUTABLE_NOT_RUNNABLE'],
    ])('SP-53 %j is refused with %s', async (name, code) => {
      const { subprocess } = await bench(open)
      await expect(subprocess.resolveExecutable(name)).rejects.toMatchObject({ code })
    })

    it('SP-53 empty and relative entries of the search path are skipped', async () => {
      const { subprocess, sh } = await bench(open)
      const setUp = sh('printf "#!/bin/sh\\n" > here; chmod +x here')
      await setUp.done
      await expect(subprocess.resolveExecutable('here', { env: { PATH: ':.:..:' } })).rejects.toMatchObject({ code: 'EXECUTABLE_NOT_FOUND' })
      await expect(subprocess.resolveExecutable('sh', { env: { PATH: undefined } })).rejects.toMatchObject({ code: 'EXECUTABLE_NOT_FOUND' })
    })

    it('SP-53 an aborted look-up rejects with the very reason', async () => {
      const { subprocess } = await bench(open)
      const reason = new Error('enough')
      await expect(subprocess.resolveExecutable('sh', { signal: AbortSignal.abort(reason) })).rejects.toBe(reason)
      const controller = new AbortController()
      const looking = subprocess.resolveExecutable('sh', { signal: controller.signal })
      controller.abort(reason)
      await expect(looking).rejects.toBe(reason)
    })
  })
}
