import { type MediaLoader, packThinking } from '@questline/core/internal';
import { describe, expect, it } from 'vitest';
import { createMessage } from './contract.ts';
import { toModelMessages } from './messages.ts';

const text = (value: string) => ({ type: 'text', text: value }) as const;
const marked = (block: object) => ({ ...block, cache_control: { type: 'ephemeral' } });
const media: MediaLoader = {
  image: async (url, path) => text(`image ${url} at ${path}`),
  document: async (url, name, path) => text(`${name} ${url} at ${path}`),
  inline: async () => text(''),
  sent: async ({ contentType, data, name }, path) => text(`sent ${name} ${contentType} ${data} at ${path}`),
  stored: async (id, path) => [text(`stored ${id} at ${path}`)],
};

const convert = async (messages: readonly object[], system?: unknown) =>
  toModelMessages(createMessage.input.body.parse({ model: 'm', messages, system }), media);
const user = (...content: object[]) => ({ role: 'user', content });
const assistant = (...content: object[]) => ({ role: 'assistant', content });
const HI = { role: 'user', content: 'Hi' };
const call = (id: string, name = 'f') => ({ type: 'tool_use', id, name, input: { a: 1 } });
const result = (tool_use_id: string, content: unknown = 'seen', more: object = {}) => ({
  type: 'tool_result',
  tool_use_id,
  content,
  ...more,
});
const seen = (toolUseId: string, content = 'seen', toolName = 'f', isError = false) => ({
  type: 'tool_result',
  toolUseId,
  toolName,
  content,
  isError,
});
const document = (source: object, more: object = {}) => ({ type: 'document', source, ...more });
const plain = (value: string, name: string) => ({
  type: 'document',
  mediaType: 'text/plain',
  data: Buffer.from(value).toString('base64'),
  name,
});
const found = { type: 'search_result', title: 'T', source: 'S', content: [text('a'), text('b')] };
const BLOCK = { type: 'reasoning_content', text: 'hm' };

describe('system of a message', () => {
  it.each<[unknown, object[]]>([
    [undefined, []],
    ['', []],
    ['Be brief.', [{ role: 'system', content: [text('Be brief.')] }]],
    [[text('a'), text(''), text('b')], [{ role: 'system', content: [text('a'), text('b')] }]],
    [
      [text('a'), marked(text('b'))],
      [{ role: 'system', content: [text('a'), text('b')], cacheBreakpoint: true }],
    ],
    [
      [text('x-anthropic-billing-header: 1'), text('x-anthropic-billing-header: 2\nb')],
      [{ role: 'system', content: [text('b')] }],
    ],
    [
      [text('b\nx-anthropic-billing-header: 2')],
      [{ role: 'system', content: [text('b\nx-anthropic-billing-header: 2')] }],
    ],
  ])('%j stands first', async (system, head) => {
    expect(await convert([HI], system)).toEqual([...head, { role: 'user', content: [text('Hi')] }]);
  });

  it('is a reminder between the turns, behind the results of open calls', async () => {
    const later = (content: unknown) => ({ role: 'system', content });
    const reminder = (words: string) => ({
      role: 'user',
      content: [text(`<system-reminder>\n${words}\n</system-reminder>`)],
    });
    const messages = [
      later('head'),
      HI,
      later([text('a'), text('b')]),
      later(''),
      assistant(call('c')),
      later('c'),
      user(result('c')),
    ];
    expect(await convert(messages)).toEqual([
      { role: 'system', content: [text('head')] },
      { role: 'user', content: [text('Hi')] },
      reminder('a\nb'),
      { role: 'assistant', content: [{ type: 'tool_use', id: 'c', name: 'f', input: { a: 1 } }] },
      { role: 'user', content: [seen('c')] },
      reminder('c'),
    ]);
  });
});

describe('turn of a message', () => {
  it.each<[string, object, unknown[]]>([
    ['texts', user(text('a'), text('b')), [text('a'), text('b')]],
    [
      'images',
      user(
        { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'aW1n' } },
        { type: 'image', source: { type: 'url', url: 'u' } },
        { type: 'image', source: { type: 'file', file_id: 'f1' } },
      ),
      [
        { type: 'image', mediaType: 'image/png', data: 'aW1n' },
        text('image u at messages.0.content.1.source.url'),
        text('stored f1 at messages.0.content.2.source.file_id'),
      ],
    ],
    [
      'documents',
      user(
        document({ type: 'base64', media_type: 'Application/PDF', data: 'cGRm' }),
        document({ type: 'text', data: 'ä' }, { title: 'T', context: '' }),
        document({ type: 'url', url: 'u' }, { title: '' }),
        document({ type: 'file', file_id: 'f1' }, { title: 'T', context: 'old' }),
        document({ type: 'content', content: 'a' }, { context: 'new', citations: { enabled: false } }),
        document({
          type: 'content',
          content: [text('a'), { type: 'image', source: { type: 'url', url: 'v' } }],
        }),
      ),
      [
        text('sent document Application/PDF cGRm at messages.0.content.0.source'),
        plain('ä', 'T'),
        text('document u at messages.0.content.2.source.url'),
        text('About the document T: old'),
        text('stored f1 at messages.0.content.3.source.file_id'),
        text('About the document : new'),
        plain('a', 'document'),
        text('a'),
        text('image v at messages.0.content.5.source.content.1.source.url'),
      ],
    ],
    ['search results', user(found), [text('T (S)\na\nb')]],
  ])('has %s of the user', async (_title, message, content) => {
    expect(await convert([message])).toEqual([{ role: 'user', content }]);
  });

  it('ends a message at each mark of the cache', async () => {
    expect(
      await convert([
        user(text('a'), marked(text('b')), text('c')),
        assistant(text('d'), marked(text('e'))),
        HI,
      ]),
    ).toEqual([
      { role: 'user', content: [text('a'), text('b')], cacheBreakpoint: true },
      { role: 'user', content: [text('c')] },
      { role: 'assistant', content: [text('d'), text('e')], cacheBreakpoint: true },
      { role: 'user', content: [text('Hi')] },
    ]);
    expect(await convert([user({ ...text('a'), cache_control: null })])).toEqual([
      { role: 'user', content: [text('a')] },
    ]);
  });

  it('has thoughts of the vendor as they came, and those of others as they were', async () => {
    const thoughts = [
      { type: 'thinking', thinking: 'hm', signature: 's' },
      { type: 'thinking', signature: 's' },
      { type: 'redacted_thinking', data: 'x' },
      { type: 'thinking', thinking: 'hm', signature: packThinking(BLOCK) },
      { type: 'thinking', thinking: 'hm', signature: '' },
      { type: 'thinking', thinking: 'hm' },
      { type: 'redacted_thinking', data: '' },
      { type: 'redacted_thinking', data: 7 },
    ];
    const thought = (block: object) => ({ type: 'thinking', block });
    expect((await convert([HI, assistant(...thoughts, text('a')), HI]))[1]).toEqual({
      role: 'assistant',
      content: [
        thought({ type: 'thinking', thinking: 'hm', signature: 's' }),
        thought({ type: 'thinking', thinking: '', signature: 's' }),
        thought({ type: 'redacted_thinking', data: 'x' }),
        thought(BLOCK),
        text('a'),
      ],
    });
  });

  it('is left out without content', async () => {
    const nothing = [user(), { role: 'user', content: '' }, assistant(), { role: 'assistant', content: '' }];
    expect(await convert([...nothing, { role: 'assistant', content: 'a' }])).toEqual([
      { role: 'assistant', content: [text('a')] },
    ]);
    await expect(convert(nothing, 'Be brief.')).rejects.toMatchObject({
      message: 'messages: no message has content',
    });
  });

  it('has the results of calls, and their media behind them', async () => {
    const image = { type: 'image', source: { type: 'url', url: 'u' } };
    const reference = { type: 'tool_reference', tool_name: 'g' };
    const results = [
      result('b', null, { is_error: true }),
      marked(result('a', [text('x'), image, found, reference, document({ type: 'text', data: 'd' })])),
      text('And?'),
    ];
    expect(await convert([HI, assistant(text('t'), call('a'), call('b', 'g')), user(...results)])).toEqual([
      { role: 'user', content: [text('Hi')] },
      {
        role: 'assistant',
        content: [
          text('t'),
          { type: 'tool_use', id: 'a', name: 'f', input: { a: 1 } },
          { type: 'tool_use', id: 'b', name: 'g', input: { a: 1 } },
        ],
      },
      {
        role: 'user',
        content: [
          seen('b', '', 'g', true),
          seen(
            'a',
            'x\n[image: follows the results]\nT (S)\na\nb\nThe tool g can be called.\n[document: follows the results]',
          ),
        ],
        cacheBreakpoint: true,
      },
      {
        role: 'user',
        content: [
          text('The image of the result of f:'),
          text('image u at messages.2.content.1.content.1.source.url'),
          text('The document of the result of f:'),
          plain('d', 'document'),
          text('And?'),
        ],
      },
    ]);
  });

  it.each<[string, object[], string]>([
    ['a result without its call', [user(result('a'))], 'messages.0.content.0.tool_use_id'],
    [
      'a second result',
      [HI, assistant(call('a')), user(result('a'), result('a'))],
      'messages.2.content.1.tool_use_id',
    ],
    [
      'a result behind other content',
      [HI, assistant(call('a')), user(text('x'), result('a'))],
      'messages.2.content.1',
    ],
    [
      'a result behind another message',
      [HI, assistant(call('a')), HI, user(result('a'))],
      'messages.3.content.0',
    ],
    ['a call without its result', [HI, assistant(call('a')), HI], 'messages.2'],
    ['a call before another answer', [HI, assistant(call('a')), assistant(text('x'))], 'messages.2'],
    [
      'a call before instructions and another answer',
      [HI, assistant(call('a')), HI, { role: 'system', content: 'x' }, assistant(text('x'))],
      'messages.2',
    ],
    ['a call at the end', [HI, assistant(call('a'))], 'messages'],
    [
      'two calls of one id',
      [HI, assistant(call('a'), call('a')), user(result('a'))],
      'messages.1.content.1.id',
    ],
    ['a call of the user', [user(call('a'))], 'messages.0.content.0'],
    ['a thought of the user', [user({ type: 'thinking' })], 'messages.0.content.0'],
    ['a redacted thought of the user', [user({ type: 'redacted_thinking' })], 'messages.0.content.0'],
    [
      'an image of the assistant',
      [HI, assistant({ type: 'image', source: { type: 'url', url: 'u' } })],
      'messages.1.content.0',
    ],
    [
      'a changed thought',
      [HI, assistant({ type: 'thinking', signature: packThinking(BLOCK).slice(0, -5) })],
      'messages.1.content.0.signature',
    ],
    [
      'citations of a document',
      [user(document({ type: 'text', data: 'a' }, { citations: { enabled: true } }))],
      'messages.0.content.0.citations',
    ],
    [
      'citations of search results',
      [user({ ...found, citations: { enabled: true } })],
      'messages.0.content.0.citations',
    ],
  ])('is refused with %s, with its place', async (_title, messages, path) => {
    await expect(convert(messages)).rejects.toMatchObject({ status: 400, details: [{ path }] });
  });

  it('may use the id of a call again', async () => {
    const round = [assistant(call('a')), user(result('a'))];
    expect(await convert([HI, ...round, ...round])).toHaveLength(5);
  });

  it('names at most five calls without results', async () => {
    const calls = ['a', 'b', 'c', 'd', 'e', 'f'].map((id) => call(id));
    await expect(convert([HI, assistant(...calls)])).rejects.toThrow(/: a, b, c, d, e$/);
  });
});
