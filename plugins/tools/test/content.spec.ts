import { randomBytes } from 'node:crypto'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type Opened, openTools, raw } from './opened.ts'

let app: Opened
beforeEach(async () => {
  app = await openTools()
})
afterEach(() => app.kernel.close())

const rendered = (content: unknown) => {
  app.tools.register(app.kernel.scope, raw('raw', undefined, { render: () => content as never }))
  return app.call('raw')
}
const image = (data: unknown, mimeType: unknown = 'image/png') => [{ type: 'image', data, mimeType }]
const base64 = 'expected standard base64 with padding, got'
const media = 'expected a media type such as "image/png", got'

describe('content', () => {
  it.each<[string, unknown, string]>([
    ['is empty', [], 'content is not a list of at least one block'],
    ['is no list', 'text', 'content is not a list of at least one block'],
    ['has a null block', [null], 'invalid content[0]: expected an object, got null'],
    ['has a hole', [{ type: 'text', text: '' }, undefined], 'invalid content[1]: expected an object, got nothing'],
    ['has an unknown block', [{ type: 'video', data: '' }], 'invalid content[0].type: expected one of "text", "image", "link", got "video"'],
    ['has text that is none', [{ type: 'text', text: 7n }], 'invalid content[0].text: expected a string, got a bigint'],
    ['has an image without a type', [{ type: 'image', data: 'AAAA' }], 'invalid content[0].mimeType: expected a string, got nothing'],
    ['has an image without data', [{ type: 'image', mimeType: 'image/png' }], 'invalid content[0].data: expected a string, got nothing'],
    ['has an image of bytes', image(Buffer.from('x')), 'invalid content[0].data: expected a string, got an object'],
    ['has a blank type', image('AAAA', ''), `invalid content[0].mimeType: ${media} ""`],
    ['has half a type', image('AAAA', 'png'), `invalid content[0].mimeType: ${media} "png"`],
    ['has a type of two lines', image('AAAA', 'image/png\n'), `invalid content[0].mimeType: ${media} "image/png\\n"`],
    ['has an empty image', image(''), `invalid content[0].data: ${base64} ""`],
    ['has a link to nowhere', [{ type: 'link', uri: '' }], 'invalid content[0].uri: expected a non-empty string, got ""'],
    ['has an odd title', [{ type: 'link', uri: 'a', title: 7 }], 'invalid content[0].title: expected a string, got 7'],
  ])('TL-25 content that %s is an invalid result, which says where', async (_what, content, problem) => {
    expect(await rendered(content)).toMatchObject({
      code: 'TOOL_OUTPUT',
      message: 'tool "raw" returned an invalid result',
      details: { problem },
    })
  })

  it.each([
    ['not base64!', '" " at character 3'],
    ['AAA-', '"-" at character 3'],
    ['AA_A', '"_" at character 2'],
    ['AAAA\n', '"\\n" at character 4'],
    ['AA🦀A', '"🦀" at character 2'],
    ['data:image/png;base64,AAAA', '":" at character 4'],
    ['AA=A', '"=" at character 2'],
    ['A===', '"=" at character 1'],
    ['====', '"=" at character 0'],
    ['AAAAA', '5 characters, which is no multiple of 4'],
    ['AAA', '3 characters, which is no multiple of 4'],
    ['AA=', '3 characters, which is no multiple of 4'],
    ['=', '1 characters, which is no multiple of 4'],
    ['AAB=', '"B" at character 2'],
    ['AB==', '"B" at character 1'],
  ])('TL-25 data that is %j is not base64, also where a policy shows it', async (data, got) => {
    const problem = `invalid content[1].data: ${base64} ${got}`
    const content = [{ type: 'text', text: 'x' }, ...image(data)]
    expect(await rendered(content)).toMatchObject({ code: 'TOOL_OUTPUT', details: { problem } })
    app.tools.register(app.kernel.scope, raw('fine'))
    app.tools.use(app.kernel.scope, { name: 'shows', after: () => ({ content: content as never }) })
    expect(await app.call('fine')).toMatchObject({ code: 'TOOL_MIDDLEWARE', message: `policy "shows" failed: ${problem}` })
  })

  it('TL-24 TL-11 halves of characters, which no protocol can carry, become what stands for a character that could not be read', async () => {
    const half = 'a\ud800b'
    const whole = 'a\ufffdb'
    app.tools.register(app.kernel.scope, raw('shows', undefined, { render: () => [{ type: 'text', text: half }] }))
    app.tools.register(
      app.kernel.scope,
      raw('returns', async () => ({ [half]: [half] })),
    )
    app.tools.register(
      app.kernel.scope,
      raw('fails', () => Promise.reject(new Error(half))),
    )
    expect(await app.call('shows')).toMatchObject({ content: [{ type: 'text', text: whole }] })
    expect(await app.call('returns')).toMatchObject({ value: { [whole]: [whole] } })
    expect(await app.call('fails')).toMatchObject({ message: whole, content: [{ text: expect.stringContaining(whole) }] })
  })

  it('TL-24 what Buffer writes as base64 is shown, whatever its bytes and their number', async () => {
    const contents = Array.from({ length: 300 }, (_, length) => image(randomBytes(length + 1).toString('base64')))
    const content = contents.flat()
    expect(await rendered(content)).toMatchObject({ isError: false, content })
  })

  it.each(['image/png', 'image/svg+xml', 'image/vnd.adobe.photoshop', 'image/svg+xml; charset=utf-8', 'application/octet-stream'])(
    'TL-24 an image may be %s',
    async (mimeType) => {
      expect(await rendered(image('AAAA', mimeType))).toMatchObject({ isError: false, content: image('AAAA', mimeType) })
    },
  )

  it('TL-24 TL-25 images of megabytes are looked at once, right or wrong', async () => {
    const data = Buffer.alloc(24 * 1024 * 1024, 'image').toString('base64')
    const before = process.cpuUsage()
    expect(await rendered(image(data))).toMatchObject({ isError: false })
    expect(await rendered(image(`${data.slice(0, -1)}!`))).toMatchObject({
      code: 'TOOL_OUTPUT',
      details: { problem: `invalid content[0].data: ${base64} "!" at character ${data.length - 1}` },
    })
    const { user, system } = process.cpuUsage(before)
    // Some 0.1 s: a search that goes back for each character would take hours.
    expect((user + system) / 1_000).toBeLessThan(5_000)
  })
})
