import type { MediaLoader } from '@questline/core/internal';
import { describe, expect, it } from 'vitest';
import { createMessage } from './contract.ts';
import { toModelMessages } from './messages.ts';

const text = (value: string) => ({ type: 'text', text: value }) as const;
const media: MediaLoader = {
  image: async (url, path) => text(`image ${url} at ${path}`),
  document: async () => text(''),
  inline: async () => text(''),
  sent: async () => text(''),
  stored: async () => [],
};

const convert = async (messages: readonly object[]) =>
  toModelMessages(createMessage.input.body.parse({ model: 'm', messages }), media);
const user = (...content: object[]) => ({ role: 'user', content });
const assistant = (...content: object[]) => ({ role: 'assistant', content });
const HI = { role: 'user', content: 'Hi' };
const call = (id: string) => ({ type: 'tool_use', id, name: 'f', input: {} });
const result = (tool_use_id: string, content: unknown = 'seen') => ({
  type: 'tool_result',
  tool_use_id,
  content,
});
const seen = (toolUseId: string, content = 'seen') => ({
  type: 'tool_result',
  toolUseId,
  toolName: 'f',
  content,
  isError: false,
});

describe('results of the tools of a message', () => {
  it('may come in several messages of the user', async () => {
    const messages = await convert([
      HI,
      assistant(call('a'), call('b')),
      user(result('a')),
      user(result('b')),
    ]);
    const results = [
      { role: 'user', content: [seen('a')] },
      { role: 'user', content: [seen('b')] },
    ];
    expect(messages.slice(2)).toEqual(results);
    const said = { role: 'system', content: 'x' };
    const around = [HI, assistant(call('a'), call('b')), user(result('a')), said, user(result('b'))];
    expect((await convert(around)).slice(2, 4)).toEqual(results);
  });

  it('have their media behind them', async () => {
    const image = { type: 'image', source: { type: 'url', url: 'u' } };
    expect((await convert([HI, assistant(call('a')), user(result('a', [image]))]))[2]).toEqual({
      role: 'user',
      content: [
        seen('a', '[image: follows the results]'),
        text('The image of the result of f:'),
        text('image u at messages.2.content.0.content.0.source.url'),
      ],
    });
  });
});
