import { compositions } from '@tenon/catalog'
import { checkCatalog } from '@tenon/runtime'

/** Ids of the rows of catalog/mcp.yaml, and of what it extends, that apply on this platform; in the order of their ids. */
export async function catalogRows(): Promise<readonly string[]> {
  const { composition, diagnostics } = await checkCatalog(compositions.mcp)
  if (diagnostics.length > 0) throw new Error(JSON.stringify(diagnostics))
  return composition.rows.filter(({ state }) => state === 'active').map(({ id }) => id)
}
