import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { afterAll, describe, expect, it } from 'vitest'
import { play, rowsOf } from './transcripts/player.ts'
import { parseTranscript, renderStory, renderTranscript, type Story } from './transcripts/transcript.ts'

/** What is in the files is what happens; `UPDATE_TRANSCRIPTS=1` writes down what does. */
const update = process.env.UPDATE_TRANSCRIPTS === '1'
const folder = fileURLToPath(new URL('./transcripts/', import.meta.url))
const files = readdirSync(folder).filter((file) => file.endsWith('.md') && file !== 'README.md')

describe.each(files)('%s', (file) => {
  const transcript = parseTranscript(readFileSync(`${folder}${file}`, 'utf8'))
  const rows = rowsOf(transcript.preface)
  const told = new Map<Story, string>()

  for (const story of transcript.stories) {
    it(story.title, async () => {
      const written = renderStory(story)
      const happened = await play(story, rows)
      if (update) told.set(story, happened)
      else expect(happened).toBe(written)
    })
  }

  afterAll(() => {
    if (told.size === 0) return
    const stories = transcript.stories.map((story) => ({ ...story, pieces: [told.get(story) ?? renderStory(story)] }))
    writeFileSync(`${folder}${file}`, renderTranscript({ ...transcript, stories }))
  })
})

describe('the player', () => {
  const story = (steps: string): Story => parseTranscript(`## A story\n\n${steps}\n`).stories[0] as Story
  const call = '```call\nbash { "command": "echo yes", "description": "say yes" }\n```\n\n'

  it('tells what happens, not what is written', async () => {
    expect(await play(story(`${call}\`\`\`result\nno\n\`\`\``))).toBe(renderStory(story(`${call}\`\`\`result\nyes\n\n\`\`\``)))
  })

  it.each([
    ['```resutl\n```', 'line 3, resutl: there is no such step'],
    ['```result\n```', 'line 3, result: there is no call '],
    ['```human\nstopp bash-1\n```', 'line 3, human: nobody can "stopp"'],
    ['```human\npromote bash-1\n```', 'line 3, human: unknown job bash-1'],
    ['```until\nbash-1 ends\n```', 'line 3, until: "bash-1 ends" cannot be waited for'],
    ['```rows\njbos: off\n```', 'no row "jbos"'],
    [call, 'nobody looked at the result of the call'],
  ])('refuses %j', async (steps, message) => {
    await expect(play(story(steps))).rejects.toThrow(message)
  })
})
