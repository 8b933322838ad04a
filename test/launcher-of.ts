import type { Subprocess } from '@tenon/subprocess'

/** Pid of the launcher: until it is there the host is the parent of its commands. */
export async function launcherOf(subprocess: Subprocess): Promise<number> {
  for (;;) {
    const output = { maxBytes: 64 }
    const handle = subprocess.spawn({
      argv: ['sh', '-c', 'echo $PPID'],
      cwd: '/',
      stdin: 'ignore',
      stdout: output,
      stderr: output,
      graceMs: 1_000,
    })
    await handle.done
    const parent = Number(handle.output.stdout?.readFrom(0).text)
    if (parent !== process.pid) return parent
    await new Promise((resolve) => setTimeout(resolve, 5))
  }
}
