import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { SmallCheckout } from './bootstrap/small-checkout.ts'

/** What the stand-in for the test runner printed: the only thing on stdout. */
function task(stdout: string): { args: string[]; cwd: string; pid: number; env: Record<string, string> } {
  return JSON.parse(stdout)
}

describe('setting up a checkout', () => {
  it('installs and compiles once, then only runs the task', async () => {
    using checkout = new SmallCheckout()
    const first = await checkout.bootstrap(['test']).finished
    const second = await checkout.bootstrap(['test']).finished
    expect([first.code, second.code], first.stderr).toEqual([0, 0])
    expect(checkout.steps()).toEqual(['pnpm', 'tsc'])
    expect(first.stderr).toBe('tenon: installing dependencies\n')
    expect(second.stderr).toBe('')
  })

  it('installs again when a manifest, the lock file or the workspace file has changed', async () => {
    using checkout = new SmallCheckout()
    await checkout.bootstrap(['build']).finished
    for (const file of ['packages/one/package.json', 'pnpm-lock.yaml', 'pnpm-workspace.yaml', 'package.json']) {
      const before = checkout.steps().length
      checkout.write(file, '{ "name": "changed" }')
      await checkout.bootstrap(['build']).finished
      expect(checkout.steps().slice(before), file).toEqual(['pnpm', 'tsc'])
    }
  })

  it('compiles again, and installs nothing, when a source or a compiler setting has changed or a compiled file is gone', async () => {
    using checkout = new SmallCheckout()
    await checkout.bootstrap(['build']).finished
    const changes = [
      () => checkout.write('packages/one/src/one.ts', 'export const one = 2\n'),
      () => checkout.write('tsconfig.base.json', '{}'),
      () => checkout.write('packages/one/tsconfig.json', '{}'),
      () => checkout.remove('packages/one/dist'),
    ]
    for (const change of changes) {
      const before = checkout.steps().length
      change()
      await checkout.bootstrap(['build']).finished
      expect(checkout.steps().slice(before), String(change)).toEqual(['tsc'])
    }
  })

  it('starts afresh where npm has installed, before or since', async () => {
    using checkout = new SmallCheckout()
    checkout.write('node_modules/.package-lock.json', '{}')
    checkout.write('node_modules/forgotten/index.js', '')
    await checkout.bootstrap(['build']).finished
    expect(checkout.has('node_modules/forgotten')).toBe(false)
    checkout.write('node_modules/.package-lock.json', '{}')
    await checkout.bootstrap(['build']).finished
    expect(checkout.steps()).toEqual(['pnpm', 'tsc', 'pnpm', 'tsc'])
  })

  it('shows what a failed step printed, ends with its exit code, and tries again next time', async () => {
    using checkout = new SmallCheckout()
    checkout.write('break-the-installation', '')
    const failed = await checkout.bootstrap(['test']).finished
    expect(failed.code).toBe(7)
    expect(failed.stderr).toContain('pnpm install failed:\nno such package')
    expect(failed.stdout).toBe('')
    checkout.remove('break-the-installation')
    expect((await checkout.bootstrap(['test']).finished).code).toBe(0)
  })
})

describe('the environment of the set-up', () => {
  it('leaves out what would install less than everything, and keeps how to reach the registry', async () => {
    using checkout = new SmallCheckout()
    const without = { NODE_ENV: 'production', npm_config_omit: 'dev', NPM_CONFIG_PRODUCTION: 'true', npm_config_ignore_scripts: 'true' }
    const reach = { npm_config_registry: 'mirror', npm_config_https_proxy: 'proxy', npm_config_cafile: 'ca.pem', 'npm_config_@own:registry': 'own' }
    const ran = await checkout.bootstrap(['test'], { env: { ...without, ...reach, OTHER: 'kept' } }).finished
    expect(ran.code, ran.stderr).toBe(0)
    for (const { env } of checkout.records()) {
      expect(Object.keys(env)).not.toContain('NODE_ENV')
      expect(Object.keys(env).filter((name) => /^(NPM_CONFIG_PRODUCTION|npm_config_(omit|ignore_scripts))$/.test(name))).toEqual([])
      expect(env).toMatchObject({ ...reach, OTHER: 'kept' })
    }
    // An .npmrc of the user's may say the same, and these outrank it.
    expect((await checkout.recordOf('pnpm')).env).toMatchObject({
      npm_config_production: 'false',
      npm_config_optional: 'true',
      npm_config_only: 'null',
    })
    expect(task(ran.stdout).env).toEqual({})
  })

  it.each([
    ['is missing', undefined],
    ['is empty', ''],
    ['is relative', 'somewhere'],
  ])('uses a home inside the checkout where HOME %s', async (_, home) => {
    using checkout = new SmallCheckout()
    await checkout.bootstrap(['build'], { env: { HOME: home } }).finished
    expect((await checkout.recordOf('pnpm')).env).toMatchObject({ HOME: join(checkout.root, '.tools', 'home') })
  })
})

describe('several at the same time', () => {
  it('set up once between them, and each runs its task', async () => {
    using checkout = new SmallCheckout()
    checkout.hold()
    const first = checkout.bootstrap(['test', 'first'])
    await checkout.recordOf('pnpm')
    const others = ['second', 'third', 'fourth'].map((name) => checkout.bootstrap(['test', name]))
    await Promise.all(others.map((run) => run.says(/waiting for process \d+, which is setting up/)))
    checkout.letGo()
    const ended = await Promise.all([first, ...others].map((run) => run.finished))
    expect(ended.map(({ code, stdout }) => [code, task(stdout).args.at(-1)])).toEqual(['first', 'second', 'third', 'fourth'].map((name) => [0, name]))
    expect(checkout.steps()).toEqual(['pnpm', 'tsc'])
  })

  it('let one of many through when all find the same stale lock', async () => {
    using checkout = new SmallCheckout()
    checkout.write('.tools/set-up.lock', '[{"pid":4194304,"startedAt":"1"}]')
    const ended = await Promise.all(Array.from({ length: 6 }, () => checkout.bootstrap(['test']).finished))
    expect(ended.map(({ code }) => code)).toEqual([0, 0, 0, 0, 0, 0])
    expect(checkout.steps()).toEqual(['pnpm', 'tsc'])
    expect(checkout.has('.tools/set-up.lock')).toBe(false)
  })

  it.each([
    ['a number that somebody else has now', () => `[{"pid":${process.pid},"startedAt":"an earlier life"}]`],
    ['no readable name', () => '[{"pid":'],
  ])('break a lock with %s', async (_, content) => {
    using checkout = new SmallCheckout()
    checkout.write('.tools/set-up.lock', content())
    expect((await checkout.bootstrap(['test']).finished).code).toBe(0)
  })
})

describe('a kill half way', () => {
  it('is waited out: the installer lives on, and the next one begins when it has ended', async () => {
    using checkout = new SmallCheckout()
    checkout.hold()
    const killed = checkout.bootstrap(['test'])
    const orphan = await checkout.recordOf('pnpm')
    killed.child.kill('SIGKILL')
    await killed.finished
    const next = checkout.bootstrap(['test'])
    await next.says(/waiting for process/)
    expect(checkout.steps()).toEqual(['pnpm'])
    checkout.letGo()
    expect((await next.finished).code).toBe(0)
    const order = checkout.records().map(({ step, event, pid }) => `${pid === orphan.pid ? 'orphaned ' : ''}${step} ${event}`)
    expect(order).toEqual(['orphaned pnpm began', 'orphaned pnpm ended', 'pnpm began', 'pnpm ended', 'tsc began', 'tsc ended'])
  })

  it('leaves no stamp, so the next one installs again', async () => {
    using checkout = new SmallCheckout()
    checkout.hold()
    const killed = checkout.bootstrap(['test'])
    const installer = await checkout.recordOf('pnpm')
    killed.child.kill('SIGKILL')
    process.kill(installer.pid, 'SIGKILL')
    await killed.finished
    checkout.letGo()
    const next = await checkout.bootstrap(['test']).finished
    expect(next.code, next.stderr).toBe(0)
    expect(checkout.steps()).toEqual(['pnpm', 'pnpm', 'tsc'])
  })

  it.each(['SIGINT', 'SIGTERM', 'SIGHUP'] as const)('by %s ends the installer first and gives the lock back', async (signal) => {
    using checkout = new SmallCheckout()
    checkout.hold()
    const run = checkout.bootstrap(['test'])
    const { pid } = await checkout.recordOf('pnpm')
    run.child.kill(signal)
    expect((await run.finished).code).toBe(128 + { SIGHUP: 1, SIGINT: 2, SIGTERM: 15 }[signal])
    expect(() => process.kill(pid, 0)).toThrow('ESRCH')
    expect(checkout.has('.tools/set-up.lock')).toBe(false)
  })
})

describe('npm', () => {
  it('that is ended, and ends only its shell, takes the whole of it along', async () => {
    using checkout = new SmallCheckout()
    checkout.hold()
    const shell = checkout.bootstrapInShell('test')
    await checkout.recordOf('pnpm')
    shell.child.kill('SIGTERM')
    // Its pipes close when the last process that has them has ended.
    expect((await shell.finished).signal).toBe('SIGTERM')
    expect((await checkout.recordOf('pnpm', 'ended')).step).toBe('pnpm')
    expect(checkout.has('.tools/set-up.lock')).toBe(false)
  })
})

describe('the task', () => {
  it('gets every argument and the root as its directory, from wherever it is called', async () => {
    using checkout = new SmallCheckout()
    mkdirSync(join(checkout.root, 'packages/one/deep'), { recursive: true })
    const args = ['packages/kernel', '-t', 'two words', '--', '']
    const ran = await checkout.bootstrap(['test', ...args], { cwd: 'packages/one/deep' }).finished
    expect(task(ran.stdout)).toMatchObject({ args: ['run', ...args], cwd: checkout.root })
  })

  it('is the process that was started, so that its signals and its exit code are that of the caller', async () => {
    using checkout = new SmallCheckout()
    const run = checkout.bootstrap(['test', '--end-with=23'])
    const { code, stdout } = await run.finished
    expect(code).toBe(23)
    expect(task(stdout).pid).toBe(run.child.pid)
  })

  it('is asked for by name, and a wrong name is answered with the right ones', async () => {
    using checkout = new SmallCheckout()
    for (const [argv, said] of [
      [[], 'which task?'],
      [['toString'], 'no task "toString".'],
    ] as const) {
      const ran = await checkout.bootstrap(argv).finished
      expect(ran.code).toBe(2)
      expect(ran.stderr).toContain(`tenon: ${said} There are: start, tenon, test, build, lint, check, changeset, bench, soak`)
    }
    expect(checkout.steps()).toEqual([])
  })

  it('of measuring names what there is to measure', async () => {
    using checkout = new SmallCheckout()
    checkout.write('test/bench/boot.ts', '')
    const ran = await checkout.bootstrap(['bench', 'bot']).finished
    expect(ran.code).toBe(2)
    expect(ran.stderr).toContain('no bench "bot". There are: boot')
  })
})
