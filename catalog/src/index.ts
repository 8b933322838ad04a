export { compositions } from './compositions.ts'
export { type FirstPartyPlugin, firstParty } from './first-party.ts'
