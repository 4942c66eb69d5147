import type { ApiResponse, Mountable } from '../contract/message.ts';
import { answer, headersWithLength, isBodiless, UNEXPECTED } from './answer.ts';
import { FetchRequest } from './fetch-request.ts';
import { below, type MountOptions } from './node.ts';
import { discard, isStreamed, Pump } from './pump.ts';

// A named import would load all of `node:http`; see node-response.ts.
const { validateHeaderValue } = process.getBuiltinModule('node:http');

/** Additional request data from a fetch-style host. */
export interface FetchInfo {
  readonly remoteAddress?: string | undefined;
  /** The body, if the host has already read it: a value, text or bytes. */
  readonly parsed?: unknown;
  /** Path parameters, if one route is mounted at a custom path. */
  readonly params?: Readonly<Record<string, string>> | undefined;
}

/**
 * Handles a `Request`.
 * @returns undefined if the path is not part of the API; the request is unchanged and the host continues.
 */
export type FetchHandler = (request: Request, info?: FetchInfo) => Promise<Response | undefined>;

/** Creates a handler for hosts that use `Request` and `Response`. */
export function toFetchHandler(api: Mountable, { mountPath = '' }: MountOptions = {}): FetchHandler {
  return async (request, info = {}) => {
    const target = below(mountPath, getTarget(request.url));
    if (target === undefined) return undefined;
    const asked = new FetchRequest(request, target, mountPath, info);
    const response = await answer(api, asked);
    if (response === undefined) return undefined;
    if (isWritable(response)) return toResponse(response, asked);
    discard(response.body);
    return toResponse(UNEXPECTED, asked);
  };
}

/** Returns path and query of the URL, still encoded. */
function getTarget(url: string): string {
  const start = url.indexOf('/', url.indexOf('://') + 3);
  if (start < 0) return '/';
  const fragment = url.indexOf('#', start);
  return fragment < 0 ? url.slice(start) : url.slice(start, fragment);
}

/** Some hosts have their own `Response` that accepts invalid headers and fails when it sends them. */
function isWritable({ headers }: ApiResponse): boolean {
  try {
    for (const name in headers) validateHeaderValue(name, headers[name] ?? '');
    return true;
  } catch {
    return false;
  }
}

function toResponse(response: ApiResponse, request: FetchRequest): Response {
  const { status, headers, body } = response;
  const bodiless = request.method === 'HEAD' || isBodiless(status);
  if (!isStreamed(body)) {
    const head = { status, headers: headersWithLength(response, request.method === 'HEAD') };
    return new Response(bodiless ? null : (body as ConstructorParameters<typeof Response>[0]), head);
  }
  if (bodiless || request.signal.aborted) {
    discard(body);
    return new Response(null, { status, headers });
  }
  return new Response(
    toReadableStream(body, () => request.leave()),
    { status, headers },
  );
}

function toReadableStream(
  body: AsyncIterable<string | Uint8Array>,
  left: () => void,
): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder();
  let running = false;
  let pump: Pump;
  return new ReadableStream<Uint8Array>(
    {
      start(controller) {
        const write = (chunk: string | Uint8Array) =>
          controller.enqueue(typeof chunk === 'string' ? encoder.encode(chunk) : chunk);
        pump = new Pump(body, {
          write(chunk) {
            write(chunk);
            // Without a buffer, every chunk waits for a read.
            return false;
          },
          end(rest) {
            if (rest !== '') write(rest);
            controller.close();
          },
          fail: () => controller.error(new Error('the answer broke off')),
        });
      },
      pull() {
        if (running) pump.resume();
        else void pump.run();
        running = true;
      },
      cancel() {
        pump.leave();
        left();
      },
    },
    { highWaterMark: 0 },
  );
}
