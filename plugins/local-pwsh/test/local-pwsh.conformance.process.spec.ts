import { describeShell, openKernelWorld } from '@tenon/shell/conformance'
import localSubprocess from '../../local-subprocess/test/launched.ts'
import localPwsh from '../src/index.ts'
import { longPlayedScript, playedScript, STAND_IN } from './played-script.ts'

describeShell({
  name: 'local-pwsh over a stand-in for PowerShell',
  open: (settings) => openKernelWorld(localSubprocess, localPwsh, settings, { executable: STAND_IN }),
  script: playedScript,
  longScript: longPlayedScript,
  many: 200,
})
