import { describeShell, openKernelWorld } from '@tenon/shell/conformance'
import localSubprocess from '../../local-subprocess/test/launched.ts'
import localBash from '../src/index.ts'
import { bashScript, longBashScript } from './bash-script.ts'

describeShell({
  name: 'local-bash',
  open: (settings) => openKernelWorld(localSubprocess, localBash, settings),
  script: bashScript,
  longScript: longBashScript,
})
