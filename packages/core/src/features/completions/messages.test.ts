import { describe, expect, it } from 'vitest';
import type { CompletionMessage, CompletionPart } from './contract.ts';
import { toModelMessages } from './messages.ts';

const cache_control = { type: 'ephemeral' } as const;
const call: CompletionPart = { type: 'tool_use', id: 'call', name: 'weather', input: { city: 'Oslo' } };
const result = (more: object = {}): CompletionPart => ({
  type: 'tool_result',
  tool_use_id: 'call',
  content: 'rain',
  ...more,
});

/** Converts the parts of a user message after the call of a tool. */
function convert(...content: CompletionPart[]) {
  const messages: CompletionMessage[] = [
    { role: 'assistant', content: [call] },
    { role: 'user', content },
  ];
  return toModelMessages(messages)[1];
}

describe('message for a model', () => {
  it('keeps its role, and a text is one part', () => {
    const messages: CompletionMessage[] = [
      { role: 'system', content: 'Be brief.' },
      { role: 'user', content: [{ type: 'text', text: 'Hi' }] },
    ];
    expect(toModelMessages(messages)).toEqual([
      { role: 'system', content: [{ type: 'text', text: 'Be brief.' }] },
      { role: 'user', content: [{ type: 'text', text: 'Hi' }] },
    ]);
  });

  it.each<[string, CompletionPart]>([
    ['image', { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'AAAA' } }],
    ['image_url', { type: 'image_url', image_url: { url: 'data:image/png;base64,AAAA' } }],
    ['input_image', { type: 'input_image', image_url: 'data:image/png;base64,AAAA' }],
  ])('has the bytes and the media type of an image: %s', (_, part) => {
    expect(convert(part)?.content).toEqual([{ type: 'image', mediaType: 'image/png', data: 'AAAA' }]);
  });

  it('names the tool of a result', () => {
    expect(convert(result())?.content).toEqual([
      { type: 'tool_result', toolUseId: 'call', toolName: 'weather', content: 'rain', isError: false },
    ]);
    expect(toModelMessages([{ role: 'assistant', content: [call] }])[0]?.content).toEqual([call]);
  });

  it('says that a tool failed, and joins the texts of its result by lines', () => {
    const content = [
      { type: 'text', text: 'no' },
      { type: 'text', text: 'city' },
    ];
    expect(convert(result({ content, is_error: true }))?.content).toMatchObject([
      { content: 'no\ncity', isError: true },
    ]);
  });

  it('is refused with the place of a result that no call precedes', () => {
    const messages: CompletionMessage[] = [
      { role: 'user', content: 'Hi' },
      { role: 'user', content: [{ type: 'text', text: 'Hi' }, result()] },
      { role: 'assistant', content: [call] },
    ];
    expect(() => toModelMessages(messages)).toThrow(
      'messages.1.content.1.tool_use_id: no earlier tool_use part has this id',
    );
  });

  it('has reasoning in the form of its provider', () => {
    const parts = [
      { type: 'thinking', provider_type: 'thought_signature', value: 's' },
      { type: 'redacted_thinking', data: 'x' },
    ] as const;
    expect(convert(...parts)?.content).toEqual([
      { type: 'thinking', block: { type: 'thought_signature', value: 's' } },
      { type: 'thinking', block: { type: 'redacted_thinking', data: 'x' } },
    ]);
  });
});

describe('cache breakpoint of a message', () => {
  const text = (more: object = {}) => ({ type: 'text', text: 'a', ...more }) as const;

  it.each<[string, CompletionPart[], true | undefined]>([
    ['a marked part', [text(), text({ cache_control })], true],
    ['a marked result of a tool', [result({ cache_control })], true],
    ['a marked text in the result of a tool', [result({ content: [text(), text({ cache_control })] })], true],
    ['an undefined mark', [text({ cache_control: undefined })], undefined],
    ['a result of a tool without a mark', [result({ content: [text()] }), result()], undefined],
  ])('follows from %s', (_, parts, expected) => {
    expect(convert(...parts)?.cacheBreakpoint).toBe(expected);
  });
});
