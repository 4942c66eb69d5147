import type { GenerateRequest, ModelContent } from '@questline/core/ports';
import { describe, expect, it } from 'vitest';
import { messageCall } from './request.ts';

const text = (value: string): ModelContent => ({ type: 'text', text: value });

describe('content for Anthropic', () => {
  const pdf = { type: 'document', mediaType: 'application/pdf', data: 'cGRm', name: 'a.pdf' } as const;
  const result = (isError: boolean): ModelContent => ({
    type: 'tool_result',
    toolUseId: 'c:1',
    toolName: 'f',
    content: 'seen',
    isError,
  });
  const thought = (block: object): ModelContent => ({
    type: 'thinking',
    block: { type: 'thinking', thinking: 'hm', signature: 's', ...block },
  });
  const send = (...messages: GenerateRequest['messages']) =>
    messageCall({ model: 'claude-haiku-4-5', maxTokens: 100, messages }, 'v').body;
  const HI = { role: 'user', content: [text('Hi')] } as const;

  it('has the model, the cap and the system text', () => {
    expect(send({ role: 'system', content: [text('Be brief.')] }, HI)).toEqual({
      model: 'claude-haiku-4-5',
      max_tokens: 100,
      system: [{ type: 'text', text: 'Be brief.' }],
      messages: [{ role: 'user', content: [{ type: 'text', text: 'Hi' }] }],
      stream: true,
    });
  });

  it.each<[string, ModelContent[], object[]]>([
    ['no empty text', [text(''), text('a')], [{ type: 'text', text: 'a' }]],
    [
      'images',
      [{ type: 'image', mediaType: 'image/png', data: 'aW1n' }],
      [{ type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'aW1n' } }],
    ],
    [
      'documents',
      [pdf, { ...pdf, mediaType: 'text/csv', data: 'YTti', name: 'a.csv' }],
      [
        {
          type: 'document',
          source: { type: 'base64', media_type: 'application/pdf', data: 'cGRm' },
          title: 'a.pdf',
        },
        { type: 'document', source: { type: 'text', media_type: 'text/plain', data: 'a;b' }, title: 'a.csv' },
      ],
    ],
    [
      'results before the rest',
      [text('a'), result(false), result(true)],
      [
        { type: 'tool_result', tool_use_id: 'c_1', content: 'seen' },
        { type: 'tool_result', tool_use_id: 'c_1', content: 'seen', is_error: true },
        { type: 'text', text: 'a' },
      ],
    ],
  ])('has %s of the user', (_title, content, expected) => {
    expect(send({ role: 'user', content }).messages).toEqual([{ role: 'user', content: expected }]);
  });

  it('has thoughts of the vendor, and inputs that are objects', () => {
    const use = (input: unknown): ModelContent => ({ type: 'tool_use', id: 'c:1', name: 'f', input });
    const content = [
      thought({}),
      { type: 'thinking', block: { type: 'redacted_thinking', data: 'x' } } as const,
      thought({ signature: 7 }),
      thought({ type: 'redacted_thinking', data: 7 }),
      thought({ type: 'other', data: 'x' }),
      use({ a: 1 }),
      use(null),
      use('no object'),
    ];
    const call = { type: 'tool_use', id: 'c_1', name: 'f' };
    expect(send(HI, { role: 'assistant', content }).messages).toEqual([
      { role: 'user', content: [text('Hi')] },
      {
        role: 'assistant',
        content: [
          { type: 'thinking', thinking: 'hm', signature: 's' },
          { type: 'redacted_thinking', data: 'x' },
          { ...call, input: { a: 1 } },
          { ...call, input: {} },
          { ...call, input: {} },
        ],
      },
    ]);
  });

  it('has no message without content', () => {
    expect(send(HI, { role: 'assistant', content: [text('')] }).messages).toHaveLength(1);
  });

  it.each<[GenerateRequest['messages'][number], string]>([
    [{ role: 'user', content: [{ ...pdf, mediaType: 'a/b' }] }, 'a document of type a/b'],
    [{ role: 'user', content: [thought({})] }, 'thinking in a user message'],
    [{ role: 'assistant', content: [pdf] }, 'document in an assistant message'],
  ])('never has %j', (message, words) => {
    expect(() => send(HI, message)).toThrow(
      expect.objectContaining({ kind: 'invalid_request', message: `v: cannot take ${words}` }),
    );
  });

  it('has the marks of the cache at the end of their message', () => {
    const long = (mark: string) => text(mark.padEnd(5000, '.'));
    const marked = {
      role: 'user',
      content: [text('x'), long('a'), text('')],
      cacheBreakpoint: true,
    } as const;
    const { messages } = send(marked, { role: 'user', content: [long('b')] });
    const [{ content } = { content: [] }] = messages as { content: { cache_control?: unknown }[] }[];
    expect(content.map(({ cache_control }) => cache_control !== undefined)).toEqual([false, true, false]);
  });

  it('has a mark of the cache on a single question only if tools may lead to more rounds', () => {
    const messages = [{ role: 'user', content: [text('a'.padEnd(5000, '.'))] }] as const;
    const tools = [{ name: 'f', description: 'F', parameters: { type: 'object' } }];
    const isMarked = (fields: Partial<GenerateRequest>) => {
      const { body } = messageCall({ model: 'claude-haiku-4-5', maxTokens: 100, messages, ...fields }, 'v');
      return JSON.stringify(body.messages).includes('cache_control');
    };
    expect([isMarked({}), isMarked({ tools }), isMarked({ tools, toolChoice: 'none' })]).toEqual([
      false,
      true,
      false,
    ]);
  });

  it('has the mark of the cache at its only block', () => {
    const long = text('a'.padEnd(5000, '.'));
    const marked = { role: 'user', content: [long], cacheBreakpoint: true } as const;
    expect(send(marked, { role: 'user', content: [text('b')] }).messages).toEqual([
      { role: 'user', content: [{ ...long, cache_control: { type: 'ephemeral' } }, text('b')] },
    ]);
  });
});
