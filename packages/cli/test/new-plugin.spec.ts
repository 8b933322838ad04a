import { readFileSync } from 'node:fs'
import { readdir, readFile } from 'node:fs/promises'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { installSteps } from '../src/install-steps.ts'
import { newPlugin, VERSIONS } from '../src/new-plugin.ts'
import { folder, tenon } from './harness.ts'

const root = fileURLToPath(new URL('../../..', import.meta.url))

describe('`tenon new plugin`', () => {
  it('CP-15 makes a package in a folder of its own, and says what to do next', async () => {
    const cwd = await folder()
    const { status, stdout, stderr } = await tenon(['new', 'plugin', '@acme/rain-map'], { cwd })
    expect(status).toBe(0)
    expect(stdout).toMatch(/^made rain-map\/: .*"rain-map"[\s\S]*\n {2}cd rain-map\n[\s\S]* {2}npm test\n {2}npx tenon call rain_map /)
    const files = [
      'README.md',
      'package.json',
      'src/contract.ts',
      'src/index.ts',
      'src/tool.ts',
      'tenon.yaml',
      'test/plugin.test.ts',
      'tsconfig.json',
    ]
    for (const file of files) expect(stderr).toContain(`  ${file}\n`)
    const manifest = JSON.parse(await readFile(path.join(cwd, 'rain-map', 'package.json'), 'utf8')) as object
    expect(manifest).toMatchObject({ name: '@acme/rain-map', peerDependencies: { '@tenon/kernel': expect.stringMatching(/^\^\d+\.\d+\.\d+$/) } })
    expect(await readFile(path.join(cwd, 'rain-map', 'src', 'contract.ts'), 'utf8')).toContain(
      "export const RainMap = capability<RainMap>('rain-map')",
    )
    expect(await readdir(path.join(cwd, 'rain-map'))).toContain('.gitignore')
  })

  it('CP-15 says how to install, on the terminal and in the README: in a checkout, whose packages are in no registry, from what it packs', async () => {
    const cwd = await folder({ 'a clone/examples/pack.mjs': '' })
    const pack = path.join(cwd, 'a clone', 'examples', 'pack.mjs')
    expect(installSteps(path.join(cwd, 'a clone', 'packages', 'cli'))).toEqual([
      `node "${pack}"`,
      `npm install --save-dev "${path.join(cwd, 'a clone', '.cache', 'packed')}"/*.tgz`,
    ])
    const { stdout } = await tenon(['new', 'plugin', 'weather'], { cwd })
    const [first = '', second = ''] = installSteps(path.join(root, 'packages', 'cli'))
    expect(first).toBe(`node ${path.join(root, 'examples', 'pack.mjs')}`)
    expect(stdout).toContain(`  cd weather\n  ${first}\n  ${second}\n  npm test\n`)
    expect(await readFile(path.join(cwd, 'weather', 'README.md'), 'utf8')).toContain(`\n\`\`\`sh\n${first}\n${second}\n\`\`\`\n`)
  })

  it('CP-15 from an installation it says to install from where that came: a registry, tarballs, or the installation itself', async () => {
    const manifest = (from: string): string => JSON.stringify({ devDependencies: { '@tenon/cli': from } })
    const cwd = await folder({
      'registry/package.json': manifest('^1.0.0'),
      'packed/package.json': manifest('file:../tarballs/tenon-cli-1.0.0.tgz'),
      'tarballs/tenon-cli-1.0.0.tgz': '',
      'left/package.json': manifest('file:../gone/tenon-cli-1.0.0.tgz'),
      ...Object.fromEntries(
        ['cli', 'kernel', 'plugin-tools', 'session', 'testkit', 'tools'].map((name) => [`left/node_modules/@tenon/${name}/package.json`, '{}']),
      ),
      'alone/node_modules/@tenon/cli/package.json': '{}',
    })
    const steps = (project: string): readonly string[] => installSteps(path.join(cwd, project, 'node_modules', '@tenon', 'cli'))
    expect(steps('registry')).toEqual(['npm install'])
    expect(steps('packed')).toEqual([`npm install --save-dev ${path.join(cwd, 'tarballs')}/tenon-*.tgz`])
    expect(steps('left')).toEqual([`npm install --save-dev ${path.join(cwd, 'left', 'node_modules', '@tenon')}/*`])
    expect(steps('alone')).toEqual([
      expect.stringMatching(/^# The packages of Tenon are in no registry: /),
      'npm install --save-dev PATH/TO/tenon-*.tgz',
    ])
  })

  it('CP-15 fills every place of its templates', async () => {
    const parent = await folder()
    const { folder: made, files } = await newPlugin({ name: 'weather', parent, version: '1.2.3', install: ['npm install'] })
    expect(files.length).toBeGreaterThan(8)
    for (const file of files) expect(await readFile(path.join(made, file), 'utf8')).not.toMatch(/\{\{|undefined/)
  })

  it.each([
    ['Weather', /"Weather" is not a name for a plugin; write it like weather or @acme\/weather-map/],
    ['../weather', /is not a name for a plugin/],
    ['@acme/', /is not a name for a plugin/],
    ['1st', /is not a name for a plugin/],
    ['shell', /"shell" is the key of a capability that there is; choose another name/],
    ['vitest', /"vitest" is a package that the new one would depend on; choose another name/],
    ['@tenon/kernel', /"@tenon\/kernel" is a package that the new one would depend on/],
    ['@acme/local-bash', /"local-bash" is the name of a first-party plugin; choose another name/],
  ])('CP-15 refuses the name %s, and makes nothing', async (name, message) => {
    const cwd = await folder()
    const { status, stdout, stderr } = await tenon(['new', 'plugin', name], { cwd })
    expect([status, stdout]).toEqual([2, ''])
    expect(stderr).toMatch(message)
    expect(await readdir(cwd)).toEqual([])
  })

  it('CP-15 says so where it cannot write, and that is no internal fault', async () => {
    const cwd = await folder({ 'a-file': '' })
    const { status, stdout, stderr } = await tenon(['new', 'plugin', 'weather'], { cwd: path.join(cwd, 'a-file') })
    expect([status, stdout]).toEqual([1, ''])
    expect(stderr).toMatch(/a-file\/weather cannot be made: .*; run this in a folder that you may write to \[PLUGIN_FOLDER_UNWRITABLE\]\n$/)
  })

  it('CP-15 leaves a folder that is there as it is', async () => {
    const cwd = await folder({ 'weather/notes.txt': 'mine' })
    const { status, stderr } = await tenon(['new', 'plugin', 'weather'], { cwd })
    expect([status, stderr]).toEqual([1, expect.stringContaining(`${path.join(cwd, 'weather')} is there already`)])
    expect(await readdir(path.join(cwd, 'weather'))).toEqual(['notes.txt'])
  })

  it('CP-15 asks for the versions that this repository is tested with', () => {
    const { devDependencies } = JSON.parse(readFileSync(path.join(root, 'package.json'), 'utf8')) as { devDependencies: Record<string, string> }
    const { catalog } = parse(readFileSync(path.join(root, 'pnpm-workspace.yaml'), 'utf8')) as { catalog: Record<string, string> }
    const tested = { zod: catalog.zod, vitest: catalog.vitest, typescript: devDependencies.typescript, typesNode: devDependencies['@types/node'] }
    expect(VERSIONS).toEqual(Object.fromEntries(Object.entries(tested).map(([name, version]) => [name, `^${version}`])))
  })
})
