export { PromptError, type PromptErrorCode } from './errors.ts'
export { type AssembledPrompt, type OmittedSection, type PromptContext, type PromptSection, SystemPrompt } from './system-prompt.ts'
