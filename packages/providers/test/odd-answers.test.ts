import type { ScriptSource } from '@questline/testing/upstreams';
import { describe, expect, it } from 'vitest';
import { answer, failure, hello } from './collect.ts';
import { openAI, openAIAt, rawServer } from './set-up.ts';

describe('unexpected upstream answers', () => {
  const head = (status: string, type: string) =>
    `HTTP/1.1 ${status}\r\ncontent-type: ${type}\r\nconnection: close\r\n\r\n`;
  const stream = head('200 OK', 'text/event-stream');

  it.each([
    ['a page', `${head('200 OK', 'text/html')}<html>Sign in</html>`, 'malformed_answer'],
    ['an error as a success', `${head('200 OK', 'application/json')}{"error":{"message":"no"}}`, 'failed'],
    [
      'an overload as a success',
      `${head('200 OK', 'application/json')}{"error":{"code":"rate_limit_exceeded"}}`,
      'overloaded',
    ],
    ['nothing', '', 'failed'],
    ['no HTTP', 'SSH-2.0-OpenSSH_9.2\r\n', 'failed'],
    ['half a head', 'HTTP/1.1 200 OK\r\ncontent-ty', 'failed'],
    [
      'another protocol',
      'HTTP/1.1 101 Switching Protocols\r\nupgrade: x\r\nconnection: upgrade\r\n\r\n',
      'failed',
    ],
    ['no content', 'HTTP/1.1 204 No Content\r\n\r\n', 'malformed_answer'],
    ['an empty stream', stream, 'failed'],
    ['events that are no JSON', `${stream}data: {"choices": nope}\n\n`, 'malformed_answer'],
    ['events that are no objects', `${stream}data: null\n\ndata: 3\n\n`, 'malformed_answer'],
    [
      'events of other shapes',
      `${stream}data: {"choices":7}\n\ndata: {"choices":[{"delta":{"tool_calls":3}}]}\n\n`,
      'malformed_answer',
    ],
    [
      'bytes that are no text',
      Buffer.concat([Buffer.from(stream), Buffer.from([0xff, 0xfe, 0x0a, 0x0a])]),
      'failed',
    ],
    ['a terminator alone', `${stream}data: [DONE]\n\n`, 'failed'],
    ['an endless line', `${stream}data: ${'x'.repeat(17 * 1024 * 1024)}`, 'malformed_answer'],
    ['an error event', `${stream}data: {"error":{"message":"Oh","type":"server_error"}}\n\n`, 'failed'],
    [
      'an overload event',
      `${stream}data: {"error":{"message":"Oh","code":"rate_limit_exceeded"}}\n\n`,
      'overloaded',
    ],
  ])('classifies %s', async (_name, bytes, kind) => {
    const address = await rawServer((socket) => socket.once('data', () => socket.end(bytes)));
    expect((await failure(answer(openAIAt(`http://${address}/v1`)))).kind).toBe(kind);
  });

  it('does not follow a redirect', async () => {
    const { provider, upstream } = await openAI({
      refusal: { status: 302, headers: { location: 'http://127.0.0.1:1/elsewhere' }, body: '' },
    });
    expect((await failure(answer(provider))).kind).toBe('malformed_answer');
    expect(upstream.requests).toHaveLength(1);
  });

  it.each([
    [400, 'invalid_request'],
    [401, 'rejected_key'],
    [402, 'rejected_key'],
    [403, 'rejected_key'],
    [404, 'invalid_request'],
    [408, 'timeout'],
    [413, 'invalid_request'],
    [422, 'invalid_request'],
    [429, 'overloaded'],
    [500, 'failed'],
    [502, 'failed'],
    [503, 'overloaded'],
    [504, 'timeout'],
    [529, 'overloaded'],
  ])('classifies status %i', async (status, kind) => {
    const { provider } = await openAI({ refusal: { status, body: 'no' } });
    expect((await failure(answer(provider))).kind).toBe(kind);
  });

  it.each([
    [{ 'retry-after': '20' }, 20_000],
    [{ 'retry-after': '1.5' }, 1500],
    [{ 'retry-after-ms': '125' }, 125],
    [{ 'retry-after': 'Wed, 21 Oct 2026 07:28:30 GMT', date: 'Wed, 21 Oct 2026 07:28:00 GMT' }, 30_000],
    [{ 'retry-after': 'soon' }, undefined],
    [{}, undefined],
  ])('reports the requested retry delay: %o', async (headers, expected) => {
    const { provider } = await openAI({ refusal: { status: 429, headers, body: 'no' } });
    expect((await failure(answer(provider))).retryAfterMs).toBe(expected);
  });

  it('does not read an endless error body', async () => {
    const address = await rawServer((socket) => {
      socket.once('data', () => {
        socket.write('HTTP/1.1 500 Oh\r\ntransfer-encoding: chunked\r\n\r\n');
        const piece = `${(100_000).toString(16)}\r\n${'x'.repeat(100_000)}\r\n`;
        socket.write(piece);
        socket.write(piece);
      });
    });
    const error = await failure(answer(openAIAt(`http://${address}/v1`)));
    expect(error.kind).toBe('failed');
    expect(error.message.length).toBeLessThan(1000);
  });

  it('never includes a key in an error, wherever the upstream repeats it', async () => {
    const key = 'sk-user-secret';
    const echo = `the key ${key} is wrong`;
    const scripts: ScriptSource[] = [
      { refusal: { status: 401, body: { error: { message: echo } } } },
      { refusal: { status: 500, body: echo } },
      { refusal: { status: 500, body: 'x'.repeat(490) + key } },
      { refusal: { status: 301, headers: { location: `/?key=${key}` }, body: '' } },
      { steps: [{ error: echo, code: 'x' }] },
      { steps: [{ data: key }] },
    ];
    const { provider, upstream } = await openAI();
    for (const script of scripts) {
      upstream.use(script);
      const error = await failure(answer(provider, hello, { apiKey: key }));
      const { message, stack, cause } = error;
      expect(JSON.stringify({ message, stack, cause: String(cause) })).not.toContain('sk-user');
    }
  });

  it('rejects a key that is not a valid header value', async () => {
    const { provider, upstream } = await openAI();
    const error = await failure(answer(provider, hello, { apiKey: 'sk-1\r\nx-evil: 1' }));
    expect(error.kind).toBe('rejected_key');
    expect(upstream.requests).toHaveLength(0);
  });
});
