import type { MediaLoader } from '@questline/core/internal';
import { packThinking } from '@questline/core/internal';
import { describe, expect, it } from 'vitest';
import { createChatCompletion } from './contract.ts';
import { toModelMessages } from './messages.ts';

const loaded = (text: string) => ({ type: 'text', text }) as const;
const media: MediaLoader = {
  image: async (url, path) => loaded(`image ${url} at ${path}`),
  document: async (url, name, path) => loaded(`${name} ${url} at ${path}`),
  inline: async (url, name, path) => loaded(`inline ${name} ${url} at ${path}`),
  sent: async () => loaded(''),
  stored: async (id, path) => [loaded(`stored ${id} at ${path}`)],
};

const convert = async (...messages: object[]) =>
  toModelMessages(createChatCompletion.input.body.parse({ model: 'm', messages }).messages, media);
const user = (...content: object[]) => ({ role: 'user', content });
const call = (id: string, name = 'f', text = '{"a":1}') => ({ id, function: { name, arguments: text } });
const result = (id: string, content: unknown = 'seen') => ({ role: 'tool', tool_call_id: id, content });
const use = (id: string, name = 'f', input: unknown = { a: 1 }) => ({ type: 'tool_use', id, name, input });
const seen = (toolUseId: string, toolName = 'f', content = 'seen') => ({
  type: 'tool_result',
  toolUseId,
  toolName,
  content,
  isError: false,
});
const text = (value: string) => ({ type: 'text', text: value });

describe('message of a chat completion', () => {
  it.each<[object, unknown]>([
    [
      { role: 'system', content: 'Be brief.' },
      { role: 'system', content: [text('Be brief.')] },
    ],
    [
      { role: 'developer', content: [text('a'), text('b')] },
      { role: 'system', content: [text('a\nb')] },
    ],
    [
      { role: 'user', content: 'Hi' },
      { role: 'user', content: [text('Hi')] },
    ],
    [user(text('a'), text('b')), { role: 'user', content: [text('a'), text('b')] }],
    [
      user({ type: 'image_url', image_url: { url: 'u' } }),
      { role: 'user', content: [text('image u at messages.0.content.0.image_url.url')] },
    ],
    [
      user(text('a'), { type: 'file', file: { file_id: 'f1' } }),
      { role: 'user', content: [text('a'), text('stored f1 at messages.0.content.1.file.file_id')] },
    ],
    [
      user({ type: 'file', file: { file_data: 'data:application/pdf;base64,cGRm', file_id: 'f1' } }),
      {
        role: 'user',
        content: [
          text('inline file data:application/pdf;base64,cGRm at messages.0.content.0.file.file_data'),
        ],
      },
    ],
    [
      user({ type: 'file', file: { file_data: 'data:application/pdf;base64,cGRm', filename: 'a.pdf' } }),
      {
        role: 'user',
        content: [
          text('inline a.pdf data:application/pdf;base64,cGRm at messages.0.content.0.file.file_data'),
        ],
      },
    ],
    [
      { role: 'assistant', content: 'a' },
      { role: 'assistant', content: [text('a')] },
    ],
    [
      { role: 'assistant', content: 'a', refusal: 'No.' },
      { role: 'assistant', content: [text('a')] },
    ],
    [
      { role: 'assistant', refusal: 'No.' },
      { role: 'assistant', content: [text('No.')] },
    ],
    [
      { role: 'assistant', content: null, tool_calls: null },
      { role: 'assistant', content: [text('')] },
    ],
    [
      { role: 'assistant', content: [text('a'), { type: 'refusal', refusal: 'No.' }] },
      { role: 'assistant', content: [text('a\nNo.')] },
    ],
    [
      { role: 'assistant', content: 'a', reasoning_details: [{ type: 'thinking', thinking: 'hm' }] },
      {
        role: 'assistant',
        content: [{ type: 'thinking', block: { type: 'thinking', thinking: 'hm' } }, text('a')],
      },
    ],
  ])('%j is that of a model', async (message, expected) => {
    expect(await convert(message)).toEqual([expected]);
  });

  it('has the calls of the assistant, and one message with their results in the order that they came', async () => {
    const asked = { role: 'assistant', content: '', tool_calls: [call('a'), call('b', 'g', ' ')] };
    const again = { role: 'assistant', content: 'c', tool_calls: [call('a')] };
    expect(
      await convert(asked, result('b'), result('a', [text('x'), text('y')]), again, result('a')),
    ).toEqual([
      { role: 'assistant', content: [use('a'), use('b', 'g', {})] },
      { role: 'user', content: [seen('b', 'g'), seen('a', 'f', 'x\ny')] },
      { role: 'assistant', content: [text('c'), use('a')] },
      { role: 'user', content: [seen('a')] },
    ]);
  });

  it('has no empty text beside a single call', async () => {
    const [asked] = await convert({ role: 'assistant', content: null, tool_calls: [call('a')] }, result('a'));
    expect(asked).toEqual({ role: 'assistant', content: [use('a')] });
  });

  it('says that arguments are no JSON', async () => {
    const asked = { role: 'assistant', tool_calls: [call('a', 'f', '{"a')] };
    await expect(convert(asked, result('a'))).rejects.toThrow('function.arguments: expected JSON');
    await expect(convert(asked, result('a'))).rejects.not.toThrow('expected a JSON object');
  });

  it.each<[string, object[], string]>([
    ['audio', [user(text('a'), { type: 'input_audio' })], 'messages.0.content.1.input_audio'],
    ['a file without data and id', [user({ type: 'file', file: {} })], 'messages.0.content.0.file'],
    ['the older call', [{ role: 'assistant', function_call: { name: 'f' } }], 'messages.0.function_call'],
    ['audio of the assistant', [{ role: 'assistant', audio: { id: 'a' } }], 'messages.0.audio'],
    ['a result without its call', [result('a')], 'messages.0.tool_call_id'],
    [
      'a second result of a call',
      [{ role: 'assistant', tool_calls: [call('a')] }, result('a'), result('a')],
      'messages.2.tool_call_id',
    ],
    [
      'a call without its result in the middle',
      [
        { role: 'assistant', tool_calls: [call('a')] },
        { role: 'user', content: 'x' },
      ],
      'messages.1',
    ],
    ['a call without its result at the end', [{ role: 'assistant', tool_calls: [call('a')] }], 'messages'],
    ...['{"a', '[]', 'null', '7', '"a"'].map((json): [string, object[], string] => [
      `arguments that are no JSON object: ${json}`,
      [{ role: 'assistant', tool_calls: [call('b'), call('a', 'f', json)] }, result('a')],
      'messages.0.tool_calls.1.function.arguments',
    ]),
  ])('is refused with %s, with its place', async (_title, messages, path) => {
    await expect(convert(...messages)).rejects.toMatchObject({ status: 400, details: [{ path }] });
  });

  it('has thinking of other wires as its vendor sent it', async () => {
    const block = { type: 'redacted_thinking', data: 'x' };
    const packed = { type: 'thinking', thinking: '', signature: packThinking(block) };
    const [message] = await convert({ role: 'assistant', content: 'a', reasoning_details: [block, packed] });
    expect(message?.content[0]).toEqual({ type: 'thinking', block });
  });
});
