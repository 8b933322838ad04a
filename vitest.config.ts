import { defineConfig } from 'vitest/config'

// Tests run the sources: this condition of every package's `exports` points to `src`.
const conditions = ['@tenon/source', 'node', 'import', 'module', 'default']

const shared = {
  oxc: { decorator: { legacy: true } },
  resolve: { conditions },
  ssr: { resolve: { conditions, externalConditions: conditions } },
}

/** So long may what is waited for take on a machine that does other things too: it is to end a test that hangs, not to measure one. */
const patience = { testTimeout: 180_000, hookTimeout: 180_000, expect: { poll: { timeout: 30_000 } } }

/** Of the kernel, and long: in a worker of their own they do not run when all others have ended. */
const long = ['packages/kernel/test/model/**/*.spec.ts', 'packages/kernel/test/types.compile.spec.ts']

export default defineConfig({
  test: {
    reporters: ['default', './scripts/counts-reporter.ts'],
    // Two processors: many tests wait for processes more than they compute.
    maxWorkers: 3,
    projects: [
      {
        ...shared,
        test: {
          name: 'unit',
          include: ['{packages,plugins}/*/test/**/*.spec.ts', 'catalog/test/**/*.spec.ts', 'test/**/*.spec.ts'],
          exclude: ['**/*.process.spec.ts', '**/*.e2e.spec.ts', '**/node_modules/**', '**/.cache/**', ...long],
          isolate: false,
          ...patience,
        },
      },
      {
        ...shared,
        test: {
          name: 'process',
          include: [
            '{packages,plugins}/*/test/**/*.{process,e2e}.spec.ts',
            'catalog/test/**/*.{process,e2e}.spec.ts',
            'test/**/*.{process,e2e}.spec.ts',
            ...long,
          ],
          exclude: ['**/node_modules/**', '**/.cache/**'],
          ...patience,
        },
      },
      {
        ...shared,
        test: {
          // The same, with commands started by the host itself and not by the launcher beside it.
          name: 'host-launch',
          // Of the shell what depends on who starts it.
          include: [
            'plugins/local-subprocess/test/**/*.{process,e2e}.spec.ts',
            'plugins/local-bash/test/*.{conformance,ends}.process.spec.ts',
            'plugins/local-bash/test/bash.host.e2e.spec.ts',
            'packages/local-shell/test/**/*.process.spec.ts',
          ],
          exclude: ['**/node_modules/**', '**/launcher.*.spec.ts'],
          env: { TENON_TEST_LAUNCHER: 'host', TENON_MIXED_COMMANDS: '1000' },
          ...patience,
        },
      },
    ],
  },
})
