import { accessSync, constants, mkdirSync } from 'node:fs'
import { isAbsolute } from 'node:path'

/**
 * The environment of the set-up steps.
 *
 * `npm run` hands every setting of its own to what it starts, and npm and pnpm leave development dependencies out under
 * NODE_ENV=production, omit=dev and their likes. Set-up installs the same on every machine, so it listens to none of
 * these; kept are the settings without which a machine behind a mirror or a proxy reaches nothing.
 *
 * @param {NodeJS.ProcessEnv} env
 * @returns {NodeJS.ProcessEnv}
 */
export function setUpEnvironment(env) {
  return Object.fromEntries(Object.entries(env).filter(([name]) => name !== 'NODE_ENV' && (!SETTING.test(name) || REACH.test(name))))
}

const SETTING = /^npm_config_/i
const REACH = /^npm_config_(.*registry|ca|cafile|cert|key|.*proxy|strict_ssl|userconfig|globalconfig|cache|.*auth.*)$/i

/** Overrides what an `.npmrc` may say of leaving things out. */
export const EVERYTHING = { npm_config_production: 'false', npm_config_optional: 'true', npm_config_only: 'null' }

/**
 * An environment with a home to write to: a build machine may have none, an empty name, or one that belongs to somebody else,
 * and then the package store lies in the checkout.
 *
 * @param {NodeJS.ProcessEnv} env
 * @param {string} spare made when it is needed
 * @returns {NodeJS.ProcessEnv}
 */
export function withHome(env, spare) {
  const variable = process.platform === 'win32' ? 'USERPROFILE' : 'HOME'
  if (isWritable(env[variable])) return env
  mkdirSync(spare, { recursive: true })
  return { ...env, [variable]: spare }
}

/** @param {string | undefined} directory */
function isWritable(directory) {
  if (!directory || !isAbsolute(directory)) return false
  try {
    mkdirSync(directory, { recursive: true })
    accessSync(directory, constants.W_OK)
    return true
  } catch {
    return false
  }
}
