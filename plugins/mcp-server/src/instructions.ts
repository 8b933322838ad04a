import type { PluginScope } from '@tenon/kernel'
import type { Session } from '@tenon/session'
import { SystemPrompt } from '@tenon/system-prompt'

/** What a client is told about the composition: the system prompt, while there is one. Tools are served without it, too. */
export class Instructions {
  readonly #scope: PluginScope
  #prompt: SystemPrompt | undefined

  constructor(scope: PluginScope) {
    this.#scope = scope
    scope.inject([SystemPrompt], (fork, prompt) => {
      this.#prompt = prompt
      fork.defer(() => {
        this.#prompt = undefined
      })
    })
  }

  /** Empty where there are none. A prompt that cannot be assembled is no reason to serve no tools. */
  async for(session: Session): Promise<string> {
    const { signal, log } = this.#scope
    try {
      const { text = '', omitted = [] } = (await this.#prompt?.assemble(session, signal)) ?? {}
      if (omitted.length > 0) log.warn({ omitted }, 'instructions without some sections')
      return text
    } catch (error) {
      if (!this.#scope.closed) log.error({ err: error }, 'no instructions: the system prompt cannot be assembled')
      return ''
    }
  }
}
