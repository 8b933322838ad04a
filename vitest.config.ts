import { defineConfig } from 'vitest/config'

// Tests run the sources: this condition of every package's `exports` points to `src`.
const conditions = ['@tenon/source', 'node', 'import', 'module', 'default']

const shared = {
  oxc: { decorator: { legacy: true } },
  resolve: { conditions },
  ssr: { resolve: { conditions, externalConditions: conditions } },
}

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
          exclude: ['**/*.process.spec.ts', '**/*.e2e.spec.ts', '**/node_modules/**', '**/.cache/**'],
          isolate: false,
          testTimeout: 20_000,
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
          ],
          exclude: ['**/node_modules/**', '**/.cache/**'],
          testTimeout: 60_000,
        },
      },
      {
        ...shared,
        test: {
          // The same, with commands started by the host itself and not by the launcher beside it.
          name: 'host-launch',
          include: ['plugins/local-{subprocess,bash}/test/**/*.{process,e2e}.spec.ts', 'packages/local-shell/test/**/*.process.spec.ts'],
          exclude: ['**/node_modules/**', '**/launcher.*.spec.ts'],
          env: { TENON_TEST_LAUNCHER: 'host', TENON_MIXED_COMMANDS: '1000' },
          testTimeout: 60_000,
        },
      },
    ],
  },
})
