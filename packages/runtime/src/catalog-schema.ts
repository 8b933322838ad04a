import { z } from 'zod'

const oneOrMore = <T extends z.ZodType>(item: T) => z.union([item, z.array(item)])

const Platform = z.enum(['aix', 'android', 'darwin', 'freebsd', 'linux', 'openbsd', 'sunos', 'win32'])

export const When = z
  .strictObject({
    platform: oneOrMore(Platform).optional().describe('Operating systems the row applies to, as in process.platform.'),
    env: z
      .union([oneOrMore(z.string()), z.record(z.string(), z.union([z.string(), z.boolean()]))])
      .optional()
      .describe('Variables that must be set and not empty; as a map, the value each must have (true: any, false: unset or empty).'),
    node: z.string().optional().describe('Comparisons with the version of Node, all of which must hold: ">=20.19 <23".'),
  })
  .describe('All must match; a row that does not apply is skipped.')
export type When = z.output<typeof When>

/** The part of a row that is checked before its plugin is looked for. */
export const RowHead = z.strictObject({
  use: z.string().min(1).describe('First-party short name, name of a package, or a path that starts with "./" or "../" (.js or .ts).'),
  with: z.record(z.string(), z.unknown()).optional().describe("The plugin's config, checked by its own schema."),
  when: When.optional(),
  disabled: z.boolean().default(false).describe('Keeps the row, but does not load it.'),
  criticality: z.enum(['required', 'optional']).default('required').describe('The failure of an optional row fails neither boot nor an edit.'),
})
export type RowHead = z.output<typeof RowHead>

/** The part of a catalog file that is checked before its rows are. */
export const CatalogHead = z.strictObject({
  name: z.string().min(1).optional().describe('By default the name of the file without its ending.'),
  extends: oneOrMore(z.string().min(1))
    .optional()
    .describe('Catalog files this one builds on, merged in order: paths, or names of built-in compositions.'),
  plugins: z.record(z.string(), z.unknown()).optional().describe('The rows: id → plugin.'),
})

/** Starts with a letter or digit; without dots, since `row.path=value` names a place in the config of a row. */
export const ROW_ID = /^[A-Za-z0-9][A-Za-z0-9_-]*$/
