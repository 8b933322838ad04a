import { type CatalogEdit, parseSetting } from '@tenon/runtime'
import type { CompositionFlags } from './context.ts'

/** What `--set`, `--enable` and `--disable` say. @throws SettingError */
export function editOf(flags: CompositionFlags): CatalogEdit {
  return {
    set: Object.fromEntries((flags.set ?? []).map(parseSetting)),
    enable: flags.enable ?? [],
    disable: flags.disable ?? [],
  }
}
