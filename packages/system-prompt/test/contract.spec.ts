import { PromptError, type PromptSection, SystemPrompt } from '@tenon/system-prompt'
import { describe, expect, expectTypeOf, it } from 'vitest'

describe('the system-prompt contract', () => {
  it('names its capability', () => {
    expect(SystemPrompt.key).toBe('system-prompt')
  })

  it('errors carry one of the codes and nothing else', () => {
    expect(new PromptError('PROMPT_INVALID', 'no')).toMatchObject({ name: 'PromptError', code: 'PROMPT_INVALID' })
    // @ts-expect-error not a code of this contract
    expect(new PromptError('PROMPT_ODD', '').code).toBe('PROMPT_ODD')
  })

  it('a section may be rendered later', () => {
    expectTypeOf<NonNullable<PromptSection['render']>>().returns.toEqualTypeOf<string | Promise<string>>()
  })
})
