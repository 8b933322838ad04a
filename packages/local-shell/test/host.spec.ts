import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { hostOf, scriptDirectory } from '../src/index.ts'

const scripts = scriptDirectory('/nowhere')
const warn = (error: unknown): void => expect.unreachable(String(error))
const gone = (): never => {
  throw Object.assign(new Error('ENOENT: no such file or directory, uv_cwd'), { code: 'ENOENT' })
}

it('SH-02 the directory of the host is read once', () => {
  let at = '/one'
  const host = hostOf({ platform: 'linux', env: { PWD: '/other' }, cwd: () => at }, scripts, warn)
  at = '/two'
  expect(host.cwd).toBe('/one')
})

it.each<[NodeJS.Platform, string | undefined, string | undefined]>([
  ['linux', '/was/here', '/was/here'],
  ['linux', 'here', undefined],
  ['linux', '', undefined],
  ['linux', undefined, undefined],
  ['win32', 'C:\\here', 'C:\\here'],
  ['win32', 'here', undefined],
])('SH-14 B085 of a directory that was deleted the name is known if PWD has it: on %s %j gives %j', (platform, PWD, cwd) => {
  expect(hostOf({ platform, env: PWD === undefined ? {} : { PWD }, cwd: gone }, scripts, warn).cwd).toBe(cwd)
})

it('its environment is a copy, and its clock goes on', () => {
  const env: NodeJS.ProcessEnv = { A: '1' }
  const host = hostOf({ platform: 'linux', env, cwd: () => '/' }, scripts, warn)
  env.A = '2'
  expect(host.env).toEqual({ A: '1' })
  const before = host.now()
  expect(host.now()).toBeGreaterThanOrEqual(before)
})

it('SH-36 a look at a path tells files, links, dangling ones too, and what is neither', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'tenon-host-'))
  onTestFinished(() => rm(directory, { recursive: true }))
  await writeFile(join(directory, 'file'), '')
  await mkdir(join(directory, 'directory'))
  await symlink('file', join(directory, 'link'))
  await symlink('nowhere', join(directory, 'dangling'))
  const { lstat } = hostOf({ platform: 'linux', env: {}, cwd: () => '/' }, scripts, warn)
  const kinds = ['file', 'directory', 'link', 'dangling', 'nowhere', 'file/below'].map((name) => lstat(join(directory, name)))
  expect(kinds).toEqual(['file', 'other', 'link', 'link', 'missing', 'missing'])
})
