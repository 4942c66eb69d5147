import { setTimeout as pause } from 'node:timers/promises';
import { type Client, type ClientOptions, createClient, type Fetch } from '@questline/client';
import { toFetchHandler } from '@questline/core';
import type { TestApp } from '../../../test/support/test-app.ts';

const ORIGIN = 'http://questline.test';

/** A `fetch` that calls the api in this process. */
export function createAppFetch(app: TestApp): Fetch {
  const handle = toFetchHandler(app.api);
  return async (url, init) =>
    (await handle(new Request(url, init as RequestInit))) ?? new Response('not ours', { status: 599 });
}

/** A client of an app that waits by advancing the app's clock. @param waited collects the delays. */
export function createAppClient(
  app: TestApp,
  options: Partial<ClientOptions> = {},
  waited: number[] = [],
): Client {
  return createClient({
    baseUrl: ORIGIN,
    credential: app.key,
    fetch: createAppFetch(app),
    async wait(ms, signal) {
      signal?.throwIfAborted();
      waited.push(ms);
      await app.clock.advance(ms);
      signal?.throwIfAborted();
    },
    ...options,
  });
}

/** Only ends what hangs. */
const MAX_TURNS = 20_000;

/** Advances the clock of the app until the work has ended: events are written in batches. */
export async function advancing<T>(app: TestApp, work: Promise<T>): Promise<T> {
  let isOver = false;
  const ended = work.finally(() => {
    isOver = true;
  });
  // Reported to the caller below.
  ended.catch(() => undefined);
  for (let turn = 0; turn < MAX_TURNS && !isOver; turn += 1) {
    await app.clock.advance(50);
    await pause(1);
  }
  if (!isOver) throw new Error('the work does not end');
  return ended;
}

/** Only ends what hangs. */
const MAX_WAITS = 100;

export interface Sent {
  readonly url: string;
  readonly headers: Headers;
  readonly init: RequestInit;
}

/** A client of a scripted server: each request takes the next answer; an error is thrown by `fetch`. */
export function createScriptedClient(
  answers: readonly (Response | Error)[],
  options: ClientOptions = {},
): { readonly client: Client; readonly sent: Sent[]; readonly waited: number[] } {
  const left = [...answers];
  const sent: Sent[] = [];
  const waited: number[] = [];
  const client = createClient({
    baseUrl: ORIGIN,
    credential: 'key',
    async fetch(url, init) {
      sent.push({ url, headers: new Headers(init.headers), init });
      const answer = left.shift();
      if (answer === undefined) throw new Error('no answer is left');
      if (answer instanceof Error) throw answer;
      return answer;
    },
    async wait(ms) {
      waited.push(ms);
      if (waited.length > MAX_WAITS) throw new Error('the client waits for ever');
    },
    ...options,
  });
  return { client, sent, waited };
}

export function json(body: unknown, status = 200, headers: Record<string, string> = {}): Response {
  return Response.json(body, { status, headers });
}

/** A stream of server-sent events. @param length bytes of a piece. @param failure breaks the connection after `cut` bytes. */
export function eventResponse(
  text: string,
  { length, cut, failure }: { length?: number; cut?: number; failure?: Error } = {},
): Response {
  const bytes = new TextEncoder().encode(text).subarray(0, cut);
  const size = length ?? bytes.length;
  let offset = 0;
  const body = new ReadableStream<Uint8Array>({
    pull(controller) {
      const piece = bytes.slice(offset, offset + size);
      offset += size;
      if (piece.length > 0) controller.enqueue(piece);
      else if (failure === undefined) controller.close();
      else controller.error(failure);
    },
  });
  return new Response(body, {
    headers: { 'content-type': 'text/event-stream; charset=utf-8', 'x-request-id': 'r-1' },
  });
}
