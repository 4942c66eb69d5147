import type { ModelProvider } from '@questline/core/ports';
import { createAnthropicProvider } from '@questline/providers/anthropic';
import { createOpenAIProvider } from '@questline/providers/openai';
import { createAnthropicUpstream, createOpenAIUpstream, type Upstream } from '@questline/testing/upstreams';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { answer, hello, readParts } from './collect.ts';
import { connect, openAI } from './set-up.ts';

async function getTexts(provider: ModelProvider): Promise<string[]> {
  return (await answer(provider)).filter((part) => part.type === 'text').map((part) => part.text);
}

const text = fc.oneof(
  fc.string({ unit: 'grapheme', minLength: 1 }),
  fc.stringMatching(/^["\\\n{}:,cx ]{1,12}$/),
  fc.constantFrom(
    'questline',
    '"',
    '\\',
    '\\"',
    '","content":"',
    '"content":"x"',
    '"text":"',
    '\u2028',
    '\u0000',
    ' ',
  ),
);

describe.each([
  ['chat completions', () => openAI()],
  ['responses', () => connect(createOpenAIUpstream, createOpenAIProvider, {}, {})],
  ['messages', () => connect(createAnthropicUpstream, createAnthropicProvider, {}, {})],
] as [string, () => Promise<{ upstream: Upstream; provider: ModelProvider }>][])('%s', (_name, setUp) => {
  it('returns every text as sent, however similar its events are', async () => {
    const { provider, upstream } = await setUp();
    await fc.assert(
      fc.asyncProperty(fc.array(text, { minLength: 1, maxLength: 20 }), async (texts) => {
        upstream.use({ steps: texts.map((one) => ({ text: one })) });
        expect(await getTexts(provider)).toEqual(texts);
      }),
      { numRuns: 300 },
    );
  });
});

const event = (content: string, more = '') =>
  `{"id":"${content}","choices":[{"delta":{"content":"${content}"}${more}}]}`;

it('parses an event completely if it differs only after the text', async () => {
  const { provider, upstream } = await openAI();
  upstream.use({
    finish: 'none',
    steps: [
      { data: event('a') },
      { data: event('b') },
      { data: event('c', ',"finish_reason":"length"') },
      { data: '{"choices":[],"usage":{}}' },
      { data: '[DONE]' },
    ],
  });
  expect((await answer(provider)).filter((part) => part.type !== 'usage')).toEqual([
    { type: 'text', text: 'a' },
    { type: 'text', text: 'b' },
    { type: 'text', text: 'c' },
    { type: 'finish', reason: 'max_tokens', model: 'gpt-test' },
  ]);
});

it('does not treat changing padding as text', async () => {
  const { provider, upstream } = await openAI();
  const padded = (content: string, padding: string, more = '') =>
    `{"choices":[{"delta":{"content":"${content}"}}]${more},"obfuscation":"${padding}"}`;
  upstream.use({
    steps: [
      { data: padded('a', 'x') },
      { data: padded('b', 'yyyy') },
      { data: padded('c', '') },
      { data: padded('d', '\\"') },
      { data: padded('e', 'z', ',"usage":{"prompt_tokens":7}') },
      { data: padded('f', 'z","error":{"message":"Oh"},"g":"') },
    ],
  });
  const parts: unknown[] = [];
  const reading = (async () => {
    for await (const chunk of await provider.generate(hello, {})) parts.push(...readParts(chunk));
  })();
  await expect(reading).rejects.toMatchObject({ kind: 'failed' });
  expect(parts).toEqual([
    ...['a', 'b', 'c', 'd', 'e'].map((one) => ({ type: 'text', text: one })),
    expect.objectContaining({ type: 'usage' }),
  ]);
});

it('does not treat equal words elsewhere in an event as text', async () => {
  const { provider, upstream } = await openAI();
  const echoing = (echo: string) => `{"echo":{"content":"${echo}"},"choices":[{"delta":{"content":"a"}}]}`;
  upstream.use({ steps: [{ data: echoing('a') }, { data: echoing('b') }, { data: echoing('c') }] });
  expect(await getTexts(provider)).toEqual(['a', 'a', 'a']);
});

it.each([
  ['after a space', '"content": "a"'],
  ['with an escaped name', '"\\u0063ontent":"a"'],
])('returns a text %s, although another field has the same text', async (_, field) => {
  const { provider, upstream } = await openAI();
  const echoing = (echo: string) => `{"echo":{"content":"${echo}"},"choices":[{"delta":{${field}}}]}`;
  upstream.use({ steps: [{ data: echoing('a') }, { data: echoing('b') }] });
  expect(await getTexts(provider)).toEqual(['a', 'a']);
});

it('fails for unterminated padding as invalid JSON', async () => {
  const { provider, upstream } = await openAI();
  const padded = (padding: string) => `{"choices":[{"delta":{"content":"a"}}],"obfuscation":"${padding}"}`;
  upstream.use({ steps: [{ data: padded('x') }, { data: padded('\\') }] });
  await expect(answer(provider)).rejects.toMatchObject({ kind: 'malformed_answer' });
});

it('fails for a text with a raw line end as invalid JSON', async () => {
  const { provider, upstream } = await openAI();
  const line = '{"choices":[{"delta":{"content":"x"}}]}';
  upstream.use({ steps: [{ data: line }, { data: line.replace('"x"', '"x\ndata: y"') }] });
  await expect(answer(provider)).rejects.toMatchObject({ kind: 'malformed_answer' });
});
