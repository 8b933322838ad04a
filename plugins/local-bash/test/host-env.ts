/** Runs with these variables in the environment of the host. */
export async function withHostEnv(entries: Record<string, string | undefined>, body: () => Promise<void>): Promise<void> {
  const before = Object.fromEntries(Object.keys(entries).map((name) => [name, process.env[name]]))
  const apply = (values: Record<string, string | undefined>): void => {
    for (const [name, value] of Object.entries(values)) {
      if (value === undefined) delete process.env[name]
      else process.env[name] = value
    }
  }
  apply(entries)
  try {
    await body()
  } finally {
    apply(before)
  }
}
