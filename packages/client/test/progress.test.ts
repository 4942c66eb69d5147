import { setImmediate as turn } from 'node:timers/promises';
import { type Fetch, type Progress, progress } from '@questline/client';
import { afterEach, describe, expect, it, vi } from 'vitest';

afterEach(() => {
  vi.unstubAllGlobals();
});

const LINK = 'http://bucket.test/object';

/** A `fetch` that reads each body to its end, and what it was called with. */
function createReader(): { readonly fetch: Fetch; readonly sent: { headers: Headers; init: RequestInit }[] } {
  const sent: { headers: Headers; init: RequestInit }[] = [];
  return {
    sent,
    async fetch(_url, init) {
      sent.push({ headers: new Headers(init.headers), init });
      return new Response(await new Response(init.body).bytes());
    },
  };
}

/** Sends a body and returns what was sent, and the progress. */
async function put(body: NonNullable<RequestInit['body']>, headers: Readonly<Record<string, string>> = {}) {
  const steps: Progress[] = [];
  const { fetch, sent } = createReader();
  const answer = await progress((step) => steps.push(step))(fetch)(LINK, { method: 'PUT', headers, body });
  const [{ headers: got, init } = expect.fail()] = sent;
  return { steps, init, bytes: await answer.bytes(), headers: Object.fromEntries(got) };
}

describe('the progress of a body outside of pages', () => {
  it('has the size of what has one, and its type', async () => {
    const bytes = new TextEncoder().encode('Grüße');
    const plain = 'text/plain;charset=UTF-8';
    for (const [body, type] of [
      ['Grüße', plain],
      [new Blob(['Grüße'], { type: 'text/x-greeting' }), 'text/x-greeting'],
      [bytes, undefined],
      [bytes.buffer, undefined],
    ] as const) {
      const { steps, headers, bytes: got } = await put(body);
      expect(got).toEqual(bytes);
      expect(headers).toEqual({ 'content-length': '7', ...(type !== undefined && { 'content-type': type }) });
      expect(steps).toEqual([{ loaded: 7, total: 7 }]);
    }
  });

  it('has no total where the size is unknown', async () => {
    const { steps, headers } = await put(new URLSearchParams({ a: '1' }));
    expect(steps).toEqual([{ loaded: 3, total: undefined }]);
    expect(headers).toEqual({ 'content-type': 'application/x-www-form-urlencoded;charset=UTF-8' });
  });

  it('has the size of the fields of a form, whose framing has no fixed length', async () => {
    const form = new FormData();
    form.append('name', 'Grüße');
    form.append('file', new Blob(['12345']), 'a.txt');
    const { steps, headers } = await put(form);
    expect(steps.at(-1)?.total).toBe(12);
    expect(Object.keys(headers)).toEqual(['content-type']);
    expect(headers['content-type']).toMatch(/^multipart\/form-data; boundary=/);
  });

  it('leaves the headers of the call as they are', async () => {
    const { headers, init } = await put('x', { 'Content-Type': 'text/x-own', 'X-Own': 'y' });
    expect(headers).toEqual({ 'content-type': 'text/x-own', 'content-length': '1', 'x-own': 'y' });
    expect(init).toMatchObject({ method: 'PUT', duplex: 'half' });
  });

  it('passes a request without a body on', async () => {
    const calls: unknown[] = [];
    const own: Fetch = async (...args) => {
      calls.push(args);
      return new Response();
    };
    const send = progress(() => expect.fail())(own);
    const inits = [{ method: 'GET' }, { body: null }];
    for (const init of inits) await send(LINK, init);
    expect(calls).toEqual(inits.map((init) => [LINK, init]));
    expect(calls.map((call) => (call as unknown[])[1])).toEqual([
      expect.toSatisfy((init) => init === inits[0]),
      expect.toSatisfy((init) => init === inits[1]),
    ]);
  });

  it('grows by pieces of 65,536 bytes, when the connection takes them', async () => {
    const steps: Progress[] = [];
    const bytes = new Uint8Array(140_000).map((_, index) => index % 251);
    const pieces: Uint8Array[] = [];
    const send = progress((step) => steps.push(step))(async (_url, init) => {
      const reader = (init.body as ReadableStream<Uint8Array>).getReader();
      for (let count = 0; ; count += 1) {
        await turn();
        expect(steps).toHaveLength(count);
        const { done, value } = await reader.read();
        if (done) return new Response();
        pieces.push(value);
      }
    });
    await send(LINK, { body: bytes });
    expect(steps).toEqual([65_536, 131_072, 140_000].map((loaded) => ({ loaded, total: 140_000 })));
    expect(pieces.map(({ length }) => length)).toEqual([65_536, 65_536, 8928]);
    expect(Buffer.concat(pieces).equals(bytes)).toBe(true);
  });

  it('ends its source with the connection', async () => {
    const reasons: unknown[] = [];
    const source = new ReadableStream<Uint8Array>({
      pull: (controller) => controller.enqueue(new Uint8Array(3)),
      cancel: (reason) => void reasons.push(reason),
    });
    const send = progress(() => undefined)(async (_url, init) => {
      await (init.body as ReadableStream).cancel('left');
      return new Response();
    });
    await send(LINK, { body: source });
    expect(reasons).toEqual(['left']);
  });

  it('uses the global fetch without another one', async () => {
    const send = progress(() => undefined)(undefined);
    const { fetch, sent } = createReader();
    vi.stubGlobal('fetch', fetch);
    expect(await (await send(LINK, { body: 'x' })).text()).toBe('x');
    expect(sent).toHaveLength(1);
  });
});
