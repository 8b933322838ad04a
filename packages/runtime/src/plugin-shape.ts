import { definePlugin, Kernel, type Plugin, Reconciling } from '@tenon/kernel'
import { messageOf } from './package-lookup.ts'

/** By shape, not by class: a plugin may come with a kernel package of its own. */
export function isPlugin(value: unknown): value is Plugin {
  if (typeof value !== 'object' || value === null) return false
  const { name, activate, inject, provides } = value as Partial<Plugin>
  return typeof name === 'string' && typeof activate === 'function' && Array.isArray(inject) && Array.isArray(provides)
}

/**
 * What the kernel would have against a plugin once it is loaded, or undefined. A plugin made by hand has not been looked at before, and
 * budgets, and a claim on what the kernel itself provides, are looked at only then.
 */
export function refusalOf({ name, inject, provides, budgets }: Plugin): string | undefined {
  try {
    definePlugin({ name, inject, provides, activate() {} })
    if (budgets !== undefined) new Kernel({ budgets })
    return provides.some(({ key }) => key === Reconciling.key) ? `it provides "${Reconciling.key}", which the kernel itself provides` : undefined
  } catch (error) {
    return messageOf(error).replace(/^"kernel": /, '')
  }
}
