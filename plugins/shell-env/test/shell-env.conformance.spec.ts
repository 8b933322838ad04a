import { describeShellEnv } from '@tenon/shell-env/conformance'
import { ContributorRegistry } from '../src/contributor-registry.ts'

describeShellEnv('the contributor registry', async () => {
  const faults: string[] = []
  const env = new ContributorRegistry({ TENON_SHELL: '1', TENON_HOME: '/u/ada/.tenon' }, (_error, contributor) => faults.push(contributor))
  return { env, faults: () => faults, close: async () => undefined }
})
