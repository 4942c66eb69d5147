import { createGeminiProvider } from '@questline/providers/gemini';
import { createOpenAIProvider } from '@questline/providers/openai';
import { createXAIProvider } from '@questline/providers/xai';
import { createOpenAIUpstream } from '@questline/testing/upstreams';
import { describe, expect, it, vi } from 'vitest';
import { answer, failure, hello } from './collect.ts';
import { later, never, openAI, openAIAt, rawServer } from './set-up.ts';

describe('timeout of a silent provider', () => {
  it.each([
    ['OpenAI', createOpenAIProvider, 900_000],
    ['xAI', createXAIProvider, 900_000],
    ['Gemini', createGeminiProvider, 1_200_000],
  ] as const)('%s uses the timeout that its vendor recommends', async (_name, create, expected) => {
    const timer = vi.spyOn(globalThis, 'setTimeout');
    const provider = create({ apiKey: 'a-key', baseUrl: 'http://127.0.0.1:9/v1' });
    later(async () => provider.close?.());
    await failure(answer(provider));
    const waits = timer.mock.calls.map(([, ms]) => ms);
    timer.mockRestore();
    expect(waits).toContain(expected);
  });

  it.each([
    ['OpenAI', createOpenAIProvider, 900_000],
    ['xAI', createXAIProvider, 900_000],
    ['Gemini', createGeminiProvider, 1_200_000],
  ] as const)('%s waits as long between two reads', async (_name, create, expected) => {
    const address = await rawServer((socket) => {
      socket.end('HTTP/1.1 200 OK\r\ncontent-type: video/mp4\r\ncontent-length: 1\r\n\r\na');
    });
    const provider = create({ apiKey: 'a-key', baseUrl: `http://${address}` });
    later(async () => provider.close?.());
    const output = { id: 'a', file: 'a', url: `http://${address}/a` };
    const video = await provider.video?.fetch(output, {});
    const timer = vi.spyOn(globalThis, 'setTimeout');
    for await (const piece of video?.body ?? []) expect(piece).toHaveLength(1);
    const waits = timer.mock.calls.map(([, ms]) => ms);
    timer.mockRestore();
    expect(waits).toContain(expected);
  });
});

describe('provider timeouts', () => {
  it('fails when no connection is established', async () => {
    // Accepts connections but sends nothing, so the TLS handshake does not complete.
    const address = await rawServer(() => {});
    const error = await failure(answer(openAIAt(`https://${address}/v1`, { connectTimeoutMs: 50 })));
    expect(error.kind).toBe('timeout');
  });

  it('fails when no server listens', async () => {
    const upstream = await createOpenAIUpstream();
    await upstream.close();
    expect((await failure(answer(openAIAt(upstream.baseUrl)))).kind).toBe('failed');
  });

  it('fails when the headers or the body do not arrive, or the body stalls', async () => {
    const { provider, upstream } = await openAI(
      { wait: never },
      { firstByteTimeoutMs: 50, idleTimeoutMs: 50 },
    );
    expect((await failure(answer(provider))).kind).toBe('timeout');
    upstream.use({ steps: [{ wait: never }] });
    expect((await failure(answer(provider))).kind).toBe('timeout');
    await Promise.all(upstream.requests.map((request) => request.disconnected));
    const address = await rawServer((socket) => {
      socket.write(
        'HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n',
      );
    });
    const headOnly = openAIAt(`http://${address}/v1`, { firstByteTimeoutMs: 50 });
    expect((await failure(answer(headOnly))).kind).toBe('timeout');
  });

  it('fails when no connection becomes free in time', async () => {
    const { provider } = await openAI(
      { steps: [{ text: 'a' }, { wait: never }] },
      { connections: 1, firstByteTimeoutMs: 1000 },
    );
    const first = (await provider.generate(hello, {}))[Symbol.asyncIterator]();
    await first.next();
    expect((await failure(answer(provider))).kind).toBe('timeout');
    await first.return?.();
  });

  it('keeps the class of an error response whose body hangs', async () => {
    const address = await rawServer((socket) => {
      socket.write('HTTP/1.1 429 Too Many Requests\r\nretry-after: 7\r\ncontent-length: 100\r\n\r\nslow');
    });
    const provider = openAIAt(`http://${address}/v1`, { firstByteTimeoutMs: 1000 });
    expect(await failure(answer(provider))).toMatchObject({ kind: 'overloaded', retryAfterMs: 7000 });
  });

  it('does not wait for the connection to close after a complete answer', async () => {
    const { provider, upstream } = await openAI((_request) => ({
      finish: 'none',
      steps: [
        { data: '{"choices":[{"delta":{"content":"a"},"finish_reason":"stop"}]}' },
        { data: '[DONE]' },
        { wait: never },
      ],
    }));
    expect(await answer(provider)).toHaveLength(2);
    // Aborted after a second.
    await (await upstream.request(0)).disconnected;
  });

  it('waits without limit if a timeout is 0, and rejects invalid timeouts', async () => {
    const { provider, upstream } = await openAI({ wait: never }, { firstByteTimeoutMs: 0 });
    const call = answer(provider).catch((error: unknown) => error);
    const request = await upstream.request(0);
    expect(await Promise.race([call, new Promise((resolve) => setTimeout(resolve, 30, 'waits'))])).toBe(
      'waits',
    );
    expect(request.disconnectedAt).toBeUndefined();
    await upstream.close();
    await call;
    for (const time of [-1, 0.5, Number.NaN, Number.POSITIVE_INFINITY, 2 ** 31]) {
      expect(() => createOpenAIProvider({ firstByteTimeoutMs: time })).toThrow(RangeError);
    }
    expect(() => createOpenAIProvider({ baseUrl: 'api.openai.com' })).toThrow(TypeError);
  });
});
