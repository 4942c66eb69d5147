import { type GenerateRequest, ProviderError, type ProviderErrorKind } from '@questline/core/ports';
import { describe, expect, it } from 'vitest';
import type { Upstream, UpstreamCall } from '../http/upstream.ts';
import { generateResponse } from './generate.ts';
import type { ResponseDialect } from './request.ts';

const DIALECT: ResponseDialect = {
  provider: 'vendor',
  reasons: () => false,
  getEffortLevels: () => undefined,
  takesSampling: () => true,
  hasSeed: false,
  minOutputTokens: 1,
  files: false,
};
const text = { type: 'text', text: 'a' } as const;
const block = {
  type: 'responses_reasoning',
  provider: 'vendor',
  item: { type: 'reasoning', encrypted_content: 'x' },
};
const PLAIN: GenerateRequest = { model: 'm', maxTokens: 1, messages: [{ role: 'user', content: [text] }] };
const THOUGHTFUL: GenerateRequest = {
  ...PLAIN,
  messages: [...PLAIN.messages, { role: 'assistant', content: [text, { type: 'thinking', block }, text] }],
};

/** Requests a response whose first call fails. @returns the number of items of each call. */
async function ask(request: GenerateRequest, failure?: unknown): Promise<number[]> {
  const items: number[] = [];
  const upstream = {
    async stream({ path, headers, body }: UpstreamCall) {
      expect([path, headers]).toEqual(['/responses', ['a', 'b']]);
      items.push((JSON.parse(String(body)) as { input: unknown[] }).input.length);
      if (failure !== undefined && items.length === 1) throw failure;
      return 'stream';
    },
  } as unknown as Upstream;
  const access = { key: 'k', headers: ['a', 'b'], signal: undefined };
  expect(await generateResponse(upstream, DIALECT, request, access)).toBe('stream');
  return items;
}

const refuse = (kind: ProviderErrorKind, message: string, code?: string) =>
  new ProviderError(kind, message, { code });

describe('request with encrypted reasoning', () => {
  it('is sent once', async () => {
    expect(await ask(THOUGHTFUL)).toEqual([4]);
  });

  it.each([
    refuse('invalid_request', 'no', 'invalid_encrypted_content'),
    refuse('invalid_request', 'The Encrypted Content could not be verified'),
  ])('is repeated without it, if the vendor cannot decrypt it: %s', async (failure) => {
    expect(await ask(THOUGHTFUL, failure)).toEqual([4, 3]);
    await expect(ask(PLAIN, failure)).rejects.toBe(failure);
  });

  it.each([
    refuse('invalid_request', 'no'),
    refuse('overloaded', 'encrypted content', 'invalid_encrypted_content'),
    new Error('encrypted content'),
  ])('is not repeated after another failure: %s', async (failure) => {
    await expect(ask(THOUGHTFUL, failure)).rejects.toBe(failure);
  });
});
