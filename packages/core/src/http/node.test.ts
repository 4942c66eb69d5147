import type { IncomingMessage, ServerResponse } from 'node:http';
import { describe, expect, it } from 'vitest';
import type { ApiRequest, ApiResponse } from '../contract/message.ts';
import { below, toNodeListener } from './node.ts';

describe('the path below a mount point', () => {
  it.each([
    ['', '/a?b', '/a?b'],
    ['/ai', '/ai', '/'],
    ['/ai', '/ai?b', '/?b'],
    ['/ai', '/ai/a?b', '/a?b'],
    ['/ai', '/aim', undefined],
    ['/ai', '/other', undefined],
    ['/ai', '/', undefined],
  ])('%j of %s is %s', (mountPath, target, expected) => {
    expect(below(mountPath, target)).toBe(expected);
  });
});

describe('a Node listener', () => {
  /** Sends a request. @returns what the response was, the requests that the API saw, and the fallback. */
  async function send(url: string | undefined, mountPath?: string, hasFallback = true) {
    const seen: ApiRequest[] = [];
    const events: unknown[] = [];
    const api = {
      async handle(request: ApiRequest): Promise<ApiResponse | undefined> {
        seen.push(request);
        if (request.path === '/fails') throw new Error('secret');
        return request.path === '/unknown' ? undefined : { status: 201, headers: {}, body: 'made' };
      },
    };
    const done = new Promise<void>((resolve) => {
      const incoming = {
        url,
        method: 'POST',
        headers: {},
        readableDidRead: true,
        body: { a: 1 },
      } as unknown as IncomingMessage;
      const outgoing = {
        writeHead: (status: number) => events.push(status),
        end(body: string) {
          events.push(body);
          resolve();
        },
      } as unknown as ServerResponse;
      const fallback = (given: IncomingMessage, response: ServerResponse) => {
        events.push(given === incoming && response === outgoing ? 'fallback' : 'other');
        resolve();
      };
      const options = mountPath === undefined ? [] : [{ mountPath }];
      toNodeListener(api, hasFallback ? fallback : undefined, ...options)(incoming, outgoing as never);
    });
    await done;
    return { seen, events };
  }

  const toParts = (seen: readonly ApiRequest[]) =>
    seen.flatMap(({ method, path, query, mountPath }) => [method, path, query, mountPath]);

  it('sends the answer of the API', async () => {
    const { seen, events } = await send('/ai/a?b', '/ai');
    expect(events).toEqual([201, 'made']);
    expect(toParts(seen)).toEqual(['POST', '/a', 'b', '/ai']);
    expect(seen[0]?.body.parsed).toEqual({ a: 1 });
    expect(toParts((await send('/a')).seen)).toEqual(['POST', '/a', '', '']);
    expect(toParts((await send(undefined)).seen)).toEqual(['POST', '/', '', '']);
  });

  it('leaves other paths to the host', async () => {
    expect(await send('/other', '/ai')).toEqual({ seen: [], events: ['fallback'] });
    expect((await send('/unknown')).events).toEqual(['fallback']);
  });

  it('answers other paths with 404 without a host', async () => {
    expect((await send('/other', '/ai', false)).events).toEqual([404, '{"error":"Not found"}']);
  });

  it('answers a failure with 500', async () => {
    expect((await send('/fails')).events).toEqual([500, '{"error":"Internal server error"}']);
  });
});
