import { describe, expect, it } from 'vitest';
import { readAnthropicError } from './errors.ts';

describe('error of Anthropic', () => {
  const read = (type: string, message?: string) =>
    readAnthropicError({ type: 'error', error: { type, message } });

  it.each([
    ['authentication_error', 'rejected_key'],
    ['permission_error', 'rejected_key'],
    ['billing_error', 'rejected_key'],
    ['rate_limit_error', 'overloaded'],
    ['overloaded_error', 'overloaded'],
    ['timeout_error', 'timeout'],
    ['invalid_request_error', 'invalid_request'],
    ['not_found_error', 'invalid_request'],
    ['request_too_large', 'invalid_request'],
    ['api_error', 'failed'],
    ['something_new', undefined],
  ])('has a kind by its type %s', (type, kind) => {
    expect(read(type)).toEqual({ message: undefined, kind, code: type });
  });

  it.each([
    ['Prompt is too long', 'context_length'],
    ['exceeds the context', 'context_length'],
    ['exceed context', 'context_length'],
    ['context window', 'context_length'],
    ['too many tokens', 'context_length'],
    ['Your credit balance is too low', 'rejected_key'],
    ['Output blocked by content filtering policy', 'content_blocked'],
    ['our usage policy', 'content_blocked'],
  ])('has a kind by the words of a bad request: %s', (message, kind) => {
    expect(read('invalid_request_error', message)).toMatchObject({ kind, message });
    expect(read('api_error', message).kind).toBe('failed');
  });
});
