import { describe, expect, it } from 'vitest';
import { readGeminiError } from './errors.ts';

const read = (status: string, message?: string, details?: unknown) =>
  readGeminiError({ error: { status, message, details } });

describe('error of Gemini', () => {
  it.each([
    ['UNAUTHENTICATED', 'rejected_key'],
    ['PERMISSION_DENIED', 'rejected_key'],
    ['RESOURCE_EXHAUSTED', 'overloaded'],
    ['UNAVAILABLE', 'overloaded'],
    ['DEADLINE_EXCEEDED', 'timeout'],
    ['INVALID_ARGUMENT', 'invalid_request'],
    ['NOT_FOUND', 'invalid_request'],
    ['OUT_OF_RANGE', 'invalid_request'],
    ['INTERNAL', 'failed'],
    ['FAILED_PRECONDITION', 'failed'],
    ['SOMETHING_NEW', undefined],
  ])('has a kind by its status %s, alone and in a list', (status, kind) => {
    const error = { error: { status, message: 'Oh' } };
    expect(readGeminiError(error)).toMatchObject({ kind, code: status, message: 'Oh' });
    expect(readGeminiError([error])).toEqual(readGeminiError(error));
  });

  it.each([
    ['The input token count (9) exceeds the maximum', 'context_length'],
    ['the context length', 'context_length'],
    ['The context window', 'context_length'],
    ['It violates our usage guidelines', 'content_blocked'],
    ['Responsible AI practices', 'content_blocked'],
    ['blocked by the safety filter', 'content_blocked'],
    ['our safety policies', 'content_blocked'],
  ])('has a kind by the words of a bad request: %s', (message, kind) => {
    expect(read('INVALID_ARGUMENT', message).kind).toBe(kind);
    expect(read('INTERNAL', message).kind).toBe('failed');
  });

  it('is about the key by its reason, whatever its status', () => {
    const details = [{ reason: 'OTHER' }, { reason: 'API_KEY_INVALID' }];
    expect(read('INVALID_ARGUMENT', 'the context window', details).kind).toBe('rejected_key');
  });

  it('has the first reason as its code, and the field of the first violation', () => {
    const details = [
      { retryDelay: 7 },
      { fieldViolations: 'none' },
      { reason: 'QUOTA', fieldViolations: [{ field: 'contents' }, { field: 'tools' }] },
      { reason: 'OTHER' },
    ];
    expect(read('INTERNAL', 'Oh', details)).toMatchObject({
      kind: 'failed',
      code: 'QUOTA',
      param: 'contents',
    });
    expect(read('INTERNAL')).toEqual({
      message: undefined,
      kind: 'failed',
      retryAfterMs: undefined,
      code: 'INTERNAL',
      param: undefined,
    });
  });

  it.each([
    [[{ retryDelay: '37s' }], 37_000],
    [[{}, { retryDelay: '0.0001s' }], 1],
    [[{ retryDelay: 'soon' }, { retryDelay: '2s' }], 2000],
    [[{ retryDelay: 7 }], undefined],
    ['37s', undefined],
  ])('has the delay of its details: %j', (details, delay) => {
    expect(read('UNAVAILABLE', 'Busy', details).retryAfterMs).toBe(delay);
  });
});
