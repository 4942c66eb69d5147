import { type IncomingMessage, request as requestPlain } from 'node:http';
import { request as requestSecure } from 'node:https';
import type { MediaStream } from '@questline/core/ports';
import { type AddressCheck, checkTarget, guardedLookup } from '../web/guarded-agent.ts';
import type { Faults } from './faults.ts';

/** Options of one download. */
export interface DownloadOptions {
  /** The provider's own origin; no other receives the headers. */
  readonly origin: string;
  /** Names and values, alternating. */
  readonly headers: readonly string[];
  readonly signal: AbortSignal | undefined;
  readonly faults: Faults;
  /** Timeout until the response headers, per hop. 0: none. */
  readonly firstByteTimeoutMs: number;
  /** Timeout between two reads. 0: none. */
  readonly idleTimeoutMs: number;
  /** Permitted addresses of other origins. */
  readonly isAllowedAddress: AddressCheck;
  /** The certificate authority of other origins. Default: the system's. */
  readonly authority?: string;
}

const MAX_REDIRECTS = 5;
/** Maximum bytes of an error body for logs. */
const REFUSAL_BYTES = 64 * 1024;

/**
 * Downloads a large result with backpressure. Uses Node's own client: it must apply backpressure
 * with any framing, which the parser of undici does not survive (see `outlivesItsEnd`).
 */
export async function download(first: URL, options: DownloadOptions): Promise<MediaStream> {
  let address = first;
  for (let hop = 0; hop <= MAX_REDIRECTS; hop += 1) {
    const answer = await ask(address, options);
    const status = answer.statusCode ?? 0;
    const { location } = answer.headers;
    if (status >= 300 && status < 400 && location !== undefined && URL.canParse(location, address.href)) {
      answer.destroy();
      address = new URL(location, address);
      continue;
    }
    const type = (answer.headers['content-type'] ?? '').toLowerCase().split(/\s*;/)[0] ?? '';
    if (status !== 200 || /json|html|^text\//.test(type)) {
      const text = await getBeginning(answer, options);
      // An error of a file host does not mean that the key is invalid.
      if (address.origin !== options.origin)
        throw options.faults.other(new Error(`its files answered ${status}`));
      throw options.faults.refusal({ status, headers: answer.headers, text });
    }
    const isTold = /^(?:video|audio|image)\//.test(type);
    return { mediaType: isTold ? type : 'video/mp4', body: readBody(answer, options) };
  }
  throw options.faults.other(new Error(`redirects more than ${MAX_REDIRECTS} times`));
}

function ask(address: URL, options: DownloadOptions): Promise<IncomingMessage> {
  const { faults, signal, firstByteTimeoutMs } = options;
  signal?.throwIfAborted();
  return new Promise((resolve, reject) => {
    const isOwn = address.origin === options.origin;
    if (!isOwn) {
      if (address.protocol !== 'https:') throw faults.other(new Error('the result URL does not use https'));
      try {
        checkTarget(address.href, options.isAllowedAddress);
      } catch (error) {
        throw faults.other(error);
      }
    }
    const send = address.protocol === 'https:' ? requestSecure : requestPlain;
    const request = send(address, {
      agent: false,
      headers: isOwn ? toFields(options.headers) : { accept: '*/*' },
      ...(!isOwn && {
        lookup: guardedLookup(options.isAllowedAddress),
        ...(options.authority !== undefined && { ca: options.authority }),
      }),
    });
    const end = (settle: () => void): void => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', leave);
      settle();
    };
    const fail = (reason: unknown): void =>
      end(() => {
        request.destroy();
        reject(reason);
      });
    const leave = (): void => fail(signal?.reason);
    const late = (): void => fail(faults.timeout(firstByteTimeoutMs));
    const timer = firstByteTimeoutMs > 0 ? setTimeout(late, firstByteTimeoutMs).unref() : undefined;
    signal?.addEventListener('abort', leave);
    request.on('error', (error) => fail(faults.other(error)));
    request.once('response', (answer) => end(() => resolve(answer)));
    request.end();
  });
}

/** A hand-written iterator: a generator that is returned before its first step would leave the connection open. */
function readBody(answer: IncomingMessage, options: DownloadOptions): AsyncIterableIterator<Uint8Array> {
  const { faults, signal, idleTimeoutMs } = options;
  const pieces: AsyncIterator<Uint8Array> = answer[Symbol.asyncIterator]();
  const leave = (): void => {
    answer.destroy();
  };
  const close = (): void => {
    signal?.removeEventListener('abort', leave);
    answer.destroy();
  };
  // The consumer has stopped reading.
  answer.on('error', () => undefined);
  signal?.addEventListener('abort', leave);
  let isOver = false;
  return {
    [Symbol.asyncIterator]() {
      return this;
    },
    async next() {
      if (isOver) return { done: true, value: undefined };
      let isLate = false;
      const late = (): void => {
        isLate = true;
        answer.destroy();
      };
      const timer = idleTimeoutMs > 0 ? setTimeout(late, idleTimeoutMs).unref() : undefined;
      const check = (): void => {
        signal?.throwIfAborted();
        if (isLate) throw faults.timeout(idleTimeoutMs);
      };
      try {
        const step = await pieces.next();
        // A piece may have arrived together with the abort or the deadline.
        check();
        if (step.done === true) {
          isOver = true;
          close();
        }
        return step;
      } catch (error) {
        isOver = true;
        close();
        check();
        throw faults.other(error);
      } finally {
        clearTimeout(timer);
      }
    },
    async return() {
      isOver = true;
      close();
      return { done: true, value: undefined };
    },
  };
}

async function getBeginning(answer: IncomingMessage, options: DownloadOptions): Promise<string> {
  const pieces: Uint8Array[] = [];
  let size = 0;
  try {
    for await (const piece of readBody(answer, options)) {
      pieces.push(piece);
      size += piece.length;
      if (size > REFUSAL_BYTES) break;
    }
  } catch {
    // A truncated error body still counts.
    options.signal?.throwIfAborted();
  }
  return Buffer.concat(pieces).toString('utf8', 0, REFUSAL_BYTES);
}

function toFields(pairs: readonly string[]): Record<string, string> {
  const fields: Record<string, string> = {};
  for (let place = 0; place < pairs.length; place += 2) {
    const name = pairs[place] ?? '';
    // The request has no body.
    if (name !== 'content-type') fields[name] = pairs[place + 1] ?? '';
  }
  return fields;
}
