import { createOpenAIProvider } from '@questline/providers/openai';
import { createOpenAIUpstream } from '@questline/testing/upstreams';
import { describe, expect, it } from 'vitest';
import { answer, failure, hello } from './collect.ts';
import { never, openAI, openAIAt, rawServer } from './set-up.ts';

describe('a provider that does not answer in time', () => {
  it('fails when no connection comes about', async () => {
    // Takes connections and never speaks, so that TLS does not come about.
    const address = await rawServer(() => {});
    const error = await failure(answer(openAIAt(`https://${address}/v1`, { connectTimeoutMs: 50 })));
    expect(error.kind).toBe('timeout');
  });

  it('fails when nobody listens', async () => {
    const upstream = await createOpenAIUpstream();
    await upstream.close();
    expect((await failure(answer(openAIAt(upstream.baseUrl)))).kind).toBe('failed');
  });

  it('fails when the head does not come, when the body does not, and when it stops', async () => {
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

  it('fails when it has no free connection for too long', async () => {
    const { provider } = await openAI(
      { steps: [{ text: 'a' }, { wait: never }] },
      { connections: 1, firstByteTimeoutMs: 1000 },
    );
    const first = (await provider.generate(hello, {}))[Symbol.asyncIterator]();
    await first.next();
    expect((await failure(answer(provider))).kind).toBe('timeout');
    await first.return?.();
  });

  it('keeps the class of a refusal whose text hangs', async () => {
    const address = await rawServer((socket) => {
      socket.write('HTTP/1.1 429 Too Many Requests\r\nretry-after: 7\r\ncontent-length: 100\r\n\r\nslow');
    });
    const provider = openAIAt(`http://${address}/v1`, { firstByteTimeoutMs: 1000 });
    expect(await failure(answer(provider))).toMatchObject({ kind: 'overloaded', retryAfterMs: 7000 });
  });

  it('does not wait for the end of a connection once the answer is complete', async () => {
    const { provider, upstream } = await openAI((_request) => ({
      finish: 'none',
      steps: [
        { data: '{"choices":[{"delta":{"content":"a"},"finish_reason":"stop"}]}' },
        { data: '[DONE]' },
        { wait: never },
      ],
    }));
    expect(await answer(provider)).toHaveLength(2);
    // Given up after a second.
    await (await upstream.request(0)).disconnected;
  });

  it('is waited for without end where a time is 0, and never where it makes no sense', async () => {
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
