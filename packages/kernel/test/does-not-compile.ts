import { type Capability, capability, definePlugin, inject, Kernel, PluginScope, type Scope } from '@tenon/kernel'
import { z } from 'zod'

/*
 * Never run: each `@ts-expect-error` stands before a mistake of a plugin author that the compiler has to find. The spec beside it
 * proves that each is an error of its own, and that nothing else in this file is.
 */

interface Shell {
  run(command: string): Promise<number>
}
const Shell = capability<Shell>('shell')

interface Jobs {
  list(): readonly string[]
}
const Jobs = capability<Jobs>('jobs')

interface WideShell extends Shell {
  stop(): void
}
const WideShell = capability<WideShell>('wide-shell')

const shell: Shell = { run: async () => 0 }

export const injected = [
  definePlugin({
    name: 'user',
    inject: [Shell],
    activate(scope, one) {
      void one.run('ls')
      // @ts-expect-error what was not injected is not there
      void one.list()
      scope.inject([Jobs], (_fork, jobs) => {
        jobs.list()
        // @ts-expect-error a fork gets what it asked for, and nothing else
        void jobs.run('ls')
      })
    },
  }),
  definePlugin({
    name: 'too-many',
    inject: [Shell],
    // @ts-expect-error there is no second value
    activate(_scope, _shell, jobs: Jobs) {
      jobs.list()
    },
  }),
  definePlugin({
    name: 'mistyped',
    inject: [Shell],
    // @ts-expect-error the value is a Shell, not Jobs
    activate(_scope, jobs: Jobs) {
      jobs.list()
    },
  }),
  definePlugin({
    name: 'none',
    // @ts-expect-error nothing is injected
    activate(_scope, one: Shell) {
      void one.run('ls')
    },
  }),
  definePlugin({
    name: 'not-a-capability',
    // @ts-expect-error a string is no capability
    inject: ['shell'],
    activate: () => undefined,
  }),
]

export const provided = [
  definePlugin({
    name: 'provider',
    inject: [Jobs],
    provides: [Shell],
    activate(scope) {
      scope.provide(Shell, shell)
      // @ts-expect-error not in `provides`
      scope.provide(Jobs, { list: () => [] })
      // @ts-expect-error not a Shell
      scope.provide(Shell, { list: () => [] })
      scope.inject([Jobs], (fork) => {
        fork.provide(Shell, shell)
        // @ts-expect-error a fork may provide what its plugin declares, and nothing else
        fork.provide(Jobs, { list: () => [] })
      })
    },
  }),
  definePlugin({
    name: 'silent',
    activate(scope) {
      // @ts-expect-error it declares nothing
      scope.provide(Shell, shell)
    },
  }),
]

export function widened(): void {
  // @ts-expect-error a capability of a subtype is another capability
  const narrow: Capability<Shell> = WideShell
  // @ts-expect-error and so is one of a supertype
  const wide: Capability<WideShell> = Shell
  void [narrow, wide]
}

const configured = definePlugin({
  name: 'configured',
  config: z.strictObject({ path: z.string(), timeoutMs: z.int().default(5) }),
  activate(scope) {
    const { path, timeoutMs } = scope.config
    void [path.length, timeoutMs.toFixed()]
    // @ts-expect-error no such option
    void scope.config.shell
    // @ts-expect-error the config is read only
    scope.config = { path: '', timeoutMs: 1 }
  },
})
const defaulted = definePlugin({ name: 'defaulted', config: z.strictObject({ n: z.int().default(1) }).prefault({}), activate: () => undefined })
const plain = definePlugin({ name: 'plain', activate: () => undefined })

export function loaded(kernel: Kernel): void {
  kernel.load(configured, { path: '/bin/sh' })
  kernel.load(defaulted)
  kernel.load(defaulted, { n: 2 }, { id: 'other' })
  kernel.load(plain)
  kernel.load(plain, undefined, { id: 'other' })
  // @ts-expect-error this plugin needs a config
  kernel.load(configured)
  // @ts-expect-error a path is text
  kernel.load(configured, { path: 5 })
  // @ts-expect-error no such option
  kernel.load(configured, { path: '/bin/sh', timeout: 5 })
  // @ts-expect-error this plugin takes no config
  kernel.load(plain, { n: 2 })
  // @ts-expect-error no such load option
  kernel.load(plain, undefined, { name: 'other' })
  // @ts-expect-error not a plugin
  kernel.load({ name: 'hand-made' })
}

export function replaced(kernel: Kernel): Promise<unknown> | undefined {
  void kernel.row('configured')?.replace(configured, { path: '/bin/sh' })
  // @ts-expect-error the config is checked for the new code as well
  void kernel.row('configured')?.replace(configured, { path: 5 })
  // @ts-expect-error no such option
  void kernel.row('configured')?.replace(configured, { path: '/bin/sh', timeout: 5 })
  return kernel.transaction((tx) => {
    tx.load(configured, { path: '/bin/sh' })
    tx.replace('configured', defaulted, { n: 1 })
    // @ts-expect-error a path is text
    tx.load(configured, { path: 5 })
    // @ts-expect-error no such option
    tx.load(configured, { path: '/bin/sh', timeout: 5 })
    // @ts-expect-error a number, not text
    tx.replace('configured', defaulted, { n: 'many' })
    // @ts-expect-error no such option
    tx.replace('configured', configured, { path: '/bin/sh', timeout: 5 })
  })
}

export class Tool {
  constructor(
    @inject(Shell) readonly shell: Shell,
    @inject(Jobs) readonly jobs: Jobs,
    @inject(PluginScope) readonly scope: PluginScope,
  ) {}
}

export class SwappedTool {
  constructor(
    // @ts-expect-error Jobs are no Shell
    @inject(Jobs) readonly shell: Shell,
    // @ts-expect-error the scope is no registry
    @inject(PluginScope) readonly jobs: Jobs,
    // @ts-expect-error a capability is no scope
    @inject(Shell) readonly scope: PluginScope,
  ) {}
}

export class NarrowTool {
  constructor(
    @inject(WideShell) readonly shell: Shell,
    // @ts-expect-error a Shell has no stop
    @inject(Shell) readonly wide: WideShell,
    // @ts-expect-error a string is no token
    @inject('shell') readonly text: Shell,
  ) {}
}

export function constructed(scope: PluginScope): void {
  const tool: Tool = scope.construct(Tool)
  // @ts-expect-error a Tool is no Jobs
  const jobs: Jobs = scope.construct(Tool)
  void [tool, jobs]
}

export function kept(scope: PluginScope): void {
  const value: Set<string> = scope.keep({ key: 'k', version: 1, create: () => new Set<string>(), dispose: (set) => set.clear() })
  // @ts-expect-error the version is a number
  scope.keep({ key: 'k', version: '1', create: () => 1, dispose: () => undefined })
  // @ts-expect-error every kept value says how it ends
  scope.keep({ key: 'k', version: 1, create: () => 1 })
  // @ts-expect-error what migrate gives is what create gives
  scope.keep<number>({ key: 'k', version: 1, create: () => 1, dispose: () => undefined, migrate: () => 'one' })
  void value
}

export function scoped(scope: Scope): void {
  scope.use({ [Symbol.dispose]: () => undefined })
  // @ts-expect-error nothing to dispose of
  scope.use({ close: () => undefined })
  // @ts-expect-error work is asynchronous
  scope.spawn(() => 5)
  // @ts-expect-error an event needs a listener
  new Kernel().events.on(scope)
}
