import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { describeSubprocess } from '@tenon/subprocess/conformance'
import { openProvider } from './open-provider.ts'

describeSubprocess('local-subprocess', async () => {
  const { subprocess, directory, close } = await openProvider()
  const own = join(directory, 'work')
  mkdirSync(own)
  return { subprocess, directory: own, close }
})
