import { SystemPrompt } from '@tenon/system-prompt'
import { prompts } from './compositions.ts'
import { perCall } from './rounds.ts'

/** Microseconds of assembling static sections that did not change. */
export async function assembly(rounds: number, calls: number, sections: number): Promise<Record<string, number[]>> {
  const composition = await prompts()
  const prompt = composition.get(SystemPrompt)
  for (let index = 0; index < sections; index++) {
    prompt.section(composition.kernel.scope, { name: `section-${index}`, order: index, text: `What section ${index} says. `.repeat(10) })
  }
  const measured = await perCall(rounds, calls, {
    async assembly(count) {
      for (let call = 0; call < count; call++) await prompt.assemble(composition.session)
    },
  })
  await composition.close()
  return measured
}
