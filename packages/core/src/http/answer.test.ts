import { describe, expect, it } from 'vitest';
import type { ApiRequest, ApiResponse } from '../contract/message.ts';
import { answer, headersWithLength, isBodiless, UNEXPECTED } from './answer.ts';

const REQUEST = {} as ApiRequest;

describe('the answer of an API', () => {
  it('is what the API returns', async () => {
    const response: ApiResponse = { status: 204, headers: {}, body: undefined };
    expect(await answer({ handle: async () => response }, REQUEST)).toBe(response);
    expect(await answer({ handle: async () => undefined }, REQUEST)).toBeUndefined();
  });

  it('is a 500 without details when the API fails', async () => {
    const failing = { handle: () => Promise.reject(new Error('secret')) };
    expect(await answer(failing, REQUEST)).toBe(UNEXPECTED);
    expect(UNEXPECTED).toEqual({
      status: 500,
      headers: { 'Content-Type': 'application/json; charset=utf-8' },
      body: '{"error":"Internal server error"}',
    });
  });
});

describe('the length of a response', () => {
  const measure = (response: Partial<ApiResponse>, isHead = false) =>
    headersWithLength({ status: 200, headers: {}, body: undefined, ...response }, isHead);

  it('is the number of its bytes', () => {
    expect(measure({ body: 'na\u00efve', headers: { 'X-A': 'b' } })).toEqual({
      'X-A': 'b',
      'Content-Length': '6',
    });
    expect(measure({ body: new Uint8Array(3) })).toEqual({ 'Content-Length': '3' });
    expect(measure({})).toEqual({ 'Content-Length': '0' });
  });

  it('is that of the omitted body for HEAD, if there is one', () => {
    expect(measure({ body: 'four' }, true)).toEqual({ 'Content-Length': '4' });
    expect(measure({}, true)).toEqual({});
  });

  it('is the one that the API has set', () => {
    expect(measure({ body: 'four', headers: { 'CONTENT-length': '9' } })).toEqual({ 'CONTENT-length': '9' });
    // As long as the name of the header.
    expect(measure({ headers: { 'X-Other-Header': '9' } })).toMatchObject({ 'Content-Length': '0' });
  });

  it.each([100, 199, 204, 304])('is absent with status %d, which has no body', (status) => {
    expect(isBodiless(status)).toBe(true);
    expect(measure({ status, body: 'x' })).toEqual({});
  });

  it.each([200, 205, 303, 305, 404])('is present with status %d', (status) => {
    expect(isBodiless(status)).toBe(false);
    expect(measure({ status })).toEqual({ 'Content-Length': '0' });
  });
});
