import type { ProviderErrorKind } from '@questline/core/ports';
import { describe, expect, it } from 'vitest';
import { readOpenAIError } from './errors.ts';

const CODES: Readonly<Record<string, ProviderErrorKind>> = {
  context_length_exceeded: 'context_length',
  too_many_prompt_tokens: 'context_length',
  string_above_max_length: 'context_length',
  content_policy_violation: 'content_blocked',
  content_filter: 'content_blocked',
  moderation_blocked: 'content_blocked',
  invalid_prompt: 'content_blocked',
  invalid_api_key: 'rejected_key',
  authentication_error: 'rejected_key',
  insufficient_quota: 'rejected_key',
  billing_hard_limit_reached: 'rejected_key',
  rate_limit_exceeded: 'overloaded',
  rate_limit_error: 'overloaded',
  overloaded_error: 'overloaded',
  server_overloaded: 'overloaded',
  engine_overloaded: 'overloaded',
  slow_down: 'overloaded',
  model_not_found: 'invalid_request',
  server_error: 'failed',
};

describe('error of OpenAI and compatible servers', () => {
  it.each(Object.entries(CODES))(
    'has a kind by its code, its type, and beside the message: %s',
    (code, kind) => {
      const bodies = [
        { error: { code } },
        { error: { type: code } },
        { error: 'no', code },
        { error: 'no', type: code },
      ];
      expect(bodies.map((body) => readOpenAIError(body, 418))).toMatchObject(
        bodies.map(() => ({ kind, code })),
      );
    },
  );

  it('has the kind of its code before that of its type, and no kind for unknown ones', () => {
    const error = { code: 'insufficient_quota', type: 'rate_limit_error' };
    expect(readOpenAIError({ error }, 429)).toMatchObject({
      kind: 'rejected_key',
      code: 'insufficient_quota',
    });
    expect(readOpenAIError({ error: { code: 'odd', type: 'rate_limit_error' } }, 418).kind).toBe(
      'overloaded',
    );
    expect(readOpenAIError({ error: { code: 'odd', type: 'odder' } }, 418)).toEqual({
      message: undefined,
      code: 'odd',
      param: undefined,
      kind: undefined,
    });
  });

  it.each([
    { error: { message: 'Oh' } },
    [{ error: { message: 'Oh' } }],
    { error: 'Oh' },
    { message: 'Oh' },
    { detail: 'Oh' },
  ])('has its message: %j', (body) => {
    expect(readOpenAIError(body, 400).message).toBe('Oh');
  });

  it.each([
    [{ error: { param: 'messages[0].role' } }, 'messages[0].role'],
    [{ error: 'Oh', param: 'model' }, 'model'],
    [{ error: { param: 'a sentence, which is no name' } }, undefined],
    [{ error: { param: `a${'b'.repeat(80)}` } }, undefined],
    [{ error: { param: 7 } }, undefined],
  ])('has the parameter if it is a short name: %j', (body, param) => {
    expect(readOpenAIError(body, 400).param).toBe(param);
  });

  const TOO_LONG = [
    'maximum context length is 8 tokens',
    'exceeds the context window',
    'the context size',
    "This model's maximum prompt length is 8",
    'maximum model length',
    'prompt is too long: 9 tokens > 8',
    'Too many tokens',
    'Please reduce the length of the messages',
  ];

  it.each(TOO_LONG)('is about the context by its words, where the status allows it: %s', (message) => {
    const read = (status: number) => readOpenAIError({ error: { message } }, status).kind;
    expect([0, 400, 413, 422].map(read)).toEqual(Array(4).fill('context_length'));
    expect([401, 429, 500].map(read)).toEqual(Array(3).fill(undefined));
  });

  it.each([
    'used all available credits',
    'You exceeded your current quota',
    'Insufficient balance',
    'insufficient credits',
    'insufficient funds',
  ])('is about an account without credit by its words, if it is reported as a rate limit: %s', (message) => {
    const read = (status: number) => readOpenAIError({ error: { message } }, status).kind;
    expect([429, 400, 500].map(read)).toEqual(['rejected_key', undefined, undefined]);
  });

  it.each([undefined, null, 'no', 7, [], {}])('has nothing in a body of another shape: %j', (body) => {
    expect(readOpenAIError(body, 400)).toEqual({
      message: undefined,
      code: undefined,
      param: undefined,
      kind: undefined,
    });
  });
});
