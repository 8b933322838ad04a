import { CodedError } from '@tenon/kernel'

export type PromptErrorCode = 'PROMPT_INVALID' | 'PROMPT_SECTION'

export class PromptError extends CodedError<PromptErrorCode> {}
