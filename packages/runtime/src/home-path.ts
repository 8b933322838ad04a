/** Why a path that starts with `~` leads nowhere, and what does; undefined for any other. Only a shell knows what `~` stands for. */
export function homePath(name: string): { readonly message: string; readonly hint: string } | undefined {
  const [, user, rest] = /^~([\w.-]*)[/\\](.*)$/.exec(name) ?? []
  if (rest === undefined) return undefined
  return {
    message: `"${name}" starts with a home folder, for which there is no sign in a catalog file`,
    hint: user === '' ? `write "\${env:HOME}/${rest}"` : 'write the whole path',
  }
}
