import { onTestFinished, vi } from 'vitest';
import { createS3Objects, type S3Options } from '../src/index.ts';

export const OPTIONS: S3Options = {
  endpoint: 'https://s3.example.com',
  bucket: 'things',
  region: 'eu-central-1',
  accessKeyId: 'key-id',
  secretAccessKey: 'secret',
  prefix: 'here/',
};

/** A request as the service receives it. */
export interface Received {
  readonly method: string;
  readonly url: URL;
  readonly headers: Headers;
  readonly body: Buffer;
  readonly signal: AbortSignal | undefined;
}

/** Answers every request of the current test. @returns the requests so far. */
export function stubService(answer: (request: Received, count: number) => Response | Promise<Response>) {
  const received: Received[] = [];
  vi.stubGlobal('fetch', async (request: Request, { signal }: { readonly signal?: AbortSignal } = {}) => {
    const { method, url, headers } = request;
    const body = Buffer.from(await request.arrayBuffer());
    const one = { method, url: new URL(url), headers, body, signal };
    received.push(one);
    return answer(one, received.length);
  });
  onTestFinished(() => void vi.unstubAllGlobals());
  return received;
}

/** A store whose service answers with one status and body, and accepts the tenth request. */
export function storeWith(status: number, text: string | null = null, headers: Record<string, string> = {}) {
  const received = stubService(
    (_, count) => new Response(text, { status: count > 9 ? 200 : status, headers }),
  );
  return { objects: createS3Objects(OPTIONS), received };
}

/** Waits for an answer until the signal aborts. */
export function hangUntilAborted({ signal }: Received): Promise<Response> {
  return new Promise((_, reject) => {
    if (signal?.aborted === true) reject(signal.reason);
    signal?.addEventListener('abort', () => reject(signal.reason));
  });
}
