import { definePlugin } from '@tenon/kernel'
import { SystemPrompt } from '@tenon/system-prompt'
import { Tools } from '@tenon/tools'
import { z } from 'zod'
import { SessionNotes } from './contract.ts'

const ADVICE = 'Write what you will need later down with note_add; note_list gives it back.'

/** Two tools over `session-notes`; where there is a system prompt, it speaks of them. */
export default definePlugin({
  name: 'tool-session-notes',
  inject: [SessionNotes, Tools],
  activate(scope, notes, tools) {
    tools.register(scope, {
      name: 'note_add',
      description: 'Write a note for yourself.',
      input: z.strictObject({ text: z.string().trim().min(1).describe('The note.') }),
      output: z.strictObject({ number: z.int() }),
      execute: async ({ text }, { session }) => ({ number: notes.add(session, text) }),
      render: ({ number }) => [{ type: 'text', text: `noted as number ${number}` }],
    })
    tools.register(scope, {
      name: 'note_list',
      description: 'Read all your notes.',
      input: z.strictObject({}),
      output: z.strictObject({ notes: z.array(z.string()) }),
      annotations: { readOnly: true },
      execute: async (_input, { session }) => ({ notes: [...notes.list(session)] }),
      render: (value) => [{ type: 'text', text: value.notes.map((note, at) => `${at + 1}. ${note}`).join('\n') || '(no notes)' }],
    })
    scope.inject([SystemPrompt], (fork, prompt) => {
      prompt.section(fork, { name: 'session-notes', order: 200, text: ADVICE })
    })
  },
})
