import { stat } from 'node:fs/promises'
import { ShellError } from '@tenon/shell'

/**
 * Asks for the directory's own entry `.`, since that takes the right to enter it, by the effective user as `chdir` does; one call
 * tells a missing path, a file and a closed directory apart.
 * @throws ShellError SHELL_BAD_CWD whose cause has the code ENOENT, ENOTDIR, EACCES or another of the platform's
 */
export async function assertEnterable(path: string, platform: NodeJS.Platform): Promise<void> {
  try {
    const stats = await stat(platform === 'win32' ? path : `${path}/.`)
    if (!stats.isDirectory()) throw Object.assign(new Error(`ENOTDIR: not a directory, stat '${path}'`), { code: 'ENOTDIR', syscall: 'stat', path })
  } catch (cause) {
    const code = (cause as NodeJS.ErrnoException).code ?? ''
    throw new ShellError('SHELL_BAD_CWD', `working directory ${path} ${PROBLEMS[code] ?? `cannot be used (${String(cause)})`}`, {
      cause,
      details: { field: 'workdir' },
    })
  }
}

const PROBLEMS: Readonly<Record<string, string>> = {
  ENOENT: 'does not exist; create it, or run the command in another',
  ENOTDIR: 'is not a directory; run the command in its parent, or in another',
  EACCES: 'may not be entered: permission denied',
}
