import { definePlugin } from '@tenon/kernel'
import { Subprocess } from '@tenon/subprocess'
import { LocalSubprocess } from './local-subprocess.ts'
import { Runtime } from './runtime.ts'
import { config, type Settings } from './settings.ts'
import { systemWorld } from './system-world.ts'

/** Of the shape of `Runtime`: code of another version must not work on what this one made. */
const VERSION = 1

export default definePlugin({
  name: 'local-subprocess',
  provides: [Subprocess],
  config,
  activate(scope) {
    const { environment, ...rest } = scope.config
    const runtime = scope.keep({
      key: 'processes',
      version: VERSION,
      create() {
        const world = systemWorld()
        return new Runtime(world, { ...rest, spillDirectory: rest.spillDirectory ?? world.temporaryDirectory }, scope.log)
      },
      dispose: (kept) => kept.close(),
    })
    const settings: Settings = { ...rest, spillDirectory: rest.spillDirectory ?? runtime.world.temporaryDirectory }
    runtime.adopt(settings, scope.log)
    scope.provide(Subprocess, new LocalSubprocess(runtime, environment, scope.log))
  },
})
