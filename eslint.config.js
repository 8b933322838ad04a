// Only what needs the types: everything else is biome's.

import tseslint from 'typescript-eslint'

export default tseslint.config(
  { ignores: ['**/dist/**', '**/node_modules/**', '**/.cache/**', '**/fixtures/**', '.tools/**', 'coverage/**'] },
  {
    files: ['packages/*/{src,test}/**/*.ts', 'plugins/*/{src,test}/**/*.ts', 'catalog/{src,test}/**/*.ts', 'test/**/*.ts', 'scripts/**/*.{ts,mjs}'],
    // Comments for biome and TypeScript are not eslint's to judge.
    linterOptions: { reportUnusedDisableDirectives: 'error' },
    languageOptions: {
      parser: tseslint.parser,
      parserOptions: { project: ['./tsconfig.test.json'], tsconfigRootDir: import.meta.dirname },
    },
    plugins: { '@typescript-eslint': tseslint.plugin },
    rules: {
      '@typescript-eslint/await-thenable': 'error',
      '@typescript-eslint/no-floating-promises': 'error',
      '@typescript-eslint/no-misused-promises': 'error',
      '@typescript-eslint/switch-exhaustiveness-check': ['error', { considerDefaultExhaustiveForUnions: true }],
    },
  },
)
