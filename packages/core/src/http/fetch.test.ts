import { describe, expect, it } from 'vitest';
import { sendToFetch, toResponse } from '../../test/fetch-answer.ts';
import { createStreamedBody } from '../../test/streamed-body.ts';
import type { ApiRequest } from '../contract/message.ts';
import { toFetchHandler } from './fetch.ts';

const UNEXPECTED = [500, '{"error":"Internal server error"}'];

describe('a fetch handler', () => {
  it.each([
    ['http://host/a%20b?c=%20d', '/a%20b', 'c=%20d'],
    ['http://host/a?b#c', '/a', 'b'],
    ['http://host/#a', '/', ''],
    ['https://host?a', '/', 'a'],
  ])('calls the API for %s', async (url, path, query) => {
    const { seen } = await sendToFetch(toResponse('x'), { url });
    expect([seen[0]?.path, seen[0]?.query, seen[0]?.mountPath]).toEqual([path, query, '']);
  });

  it('takes the target of a request that has no slash after its host as the root', async () => {
    const seen: string[] = [];
    const api = {
      async handle({ path }: ApiRequest) {
        seen.push(path);
        return undefined;
      },
    };
    await toFetchHandler(api)({ url: 'http://host', method: 'GET' } as Request);
    expect(seen).toEqual(['/']);
  });

  it('leaves other paths to the host', async () => {
    expect(await sendToFetch(toResponse('x'), { url: 'http://host/other', mountPath: '/ai' })).toEqual({
      seen: [],
    });
    expect((await sendToFetch(undefined)).answer).toBeUndefined();
    const { seen } = await sendToFetch(toResponse('x'), {
      url: 'http://host/ai/a',
      mountPath: '/ai',
      info: { parsed: 'y' },
    });
    expect([seen[0]?.path, seen[0]?.mountPath, seen[0]?.body.parsed]).toEqual(['/a', '/ai', 'y']);
  });

  it('answers with text, bytes or nothing', async () => {
    const { answer } = await sendToFetch(toResponse('na\u00efve', { status: 201 }));
    expect([answer?.status, Object.fromEntries(answer?.headers ?? []), await answer?.text()]).toEqual([
      201,
      { 'content-type': 'text/plain', 'content-length': '6' },
      'na\u00efve',
    ]);
    expect(await (await sendToFetch(toResponse(Buffer.from('ab')))).answer?.text()).toBe('ab');
    const none = (await sendToFetch(toResponse(undefined))).answer;
    expect([none?.headers.get('content-length'), await none?.text()]).toEqual(['0', '']);
    const bodiless = (await sendToFetch(toResponse('x', { status: 204 }))).answer;
    expect([bodiless?.status, bodiless?.headers.get('content-length'), bodiless?.body]).toEqual([
      204,
      null,
      null,
    ]);
  });

  it('answers HEAD with the length of the body only', async () => {
    const { answer } = await sendToFetch(toResponse('four'), { method: 'HEAD' });
    expect([answer?.headers.get('content-length'), answer?.body]).toEqual(['4', null]);
  });

  it('answers a failure of the API and an invalid header with 500', async () => {
    const failed = (await sendToFetch(new Error('secret'))).answer;
    expect([failed?.status, await failed?.text()]).toEqual(UNEXPECTED);
    const { body, counts } = createStreamedBody();
    const invalid = (await sendToFetch(toResponse(body, { headers: { 'x-a': 'b\nc' } }))).answer;
    expect([invalid?.status, await invalid?.text()]).toEqual(UNEXPECTED);
    expect(counts().returns).toBe(1);
  });
});
