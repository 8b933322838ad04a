import { benchOf, openKernelWorld } from '@tenon/shell/conformance'
import localSubprocess from '../../local-subprocess/test/launched.ts'
import localBash from '../src/index.ts'
import { bashScript, longBashScript } from './bash-script.ts'

/** A kernel of the test's own: the process provider, and bash over it. */
export const bench = benchOf({
  name: 'local-bash',
  open: (settings) => openKernelWorld(localSubprocess, localBash, settings),
  script: bashScript,
  longScript: longBashScript,
})
