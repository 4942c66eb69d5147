import { type IncomingMessage, request as requestPlain } from 'node:http';
import { request as requestSecure } from 'node:https';
import type { MediaStream } from '@questline/core';
import { type AddressCheck, checkTarget, guardedLookup } from '../web/guarded-agent.ts';
import type { Faults } from './faults.ts';

/** What one download agreed on before it is begun. */
export interface DownloadTerms {
  /** The provider's own origin: nobody else is sent the headers. */
  readonly origin: string;
  /** Names and values, alternating. */
  readonly headers: readonly string[];
  readonly signal: AbortSignal | undefined;
  readonly faults: Faults;
  /** From asking until the head of the answer, at each hop. 0: no bound. */
  readonly firstByteTimeoutMs: number;
  /** Between two reads. 0: no bound. */
  readonly idleTimeoutMs: number;
  /** Of other origins. */
  readonly isAllowedAddress: AddressCheck;
  /** Who signs the certificates of other origins. Default: those the system trusts. */
  readonly authority?: string;
}

const MOST_REDIRECTS = 5;
/** Operators need the beginning of a refusal. */
const REFUSAL_BYTES = 64 * 1024;

/**
 * A large result, piece by piece, read no faster than somebody takes it. Over Node's own client: a film must be held back
 * whatever its framing, and the other client's parser does not survive that (`outlivesItsEnd` tells more).
 */
export async function download(first: URL, terms: DownloadTerms): Promise<MediaStream> {
  let address = first;
  for (let hop = 0; hop <= MOST_REDIRECTS; hop += 1) {
    const answer = await ask(address, terms);
    const status = answer.statusCode ?? 0;
    const { location } = answer.headers;
    if (status >= 300 && status < 400 && location !== undefined && URL.canParse(location, address.href)) {
      answer.destroy();
      address = new URL(location, address);
      continue;
    }
    const type = (answer.headers['content-type'] ?? '').toLowerCase().split(/\s*;/)[0] ?? '';
    if (status !== 200 || /json|html|^text\//.test(type)) {
      const text = await beginningOf(answer, terms);
      // What a store of files thinks of an address says nothing about the key.
      if (address.origin !== terms.origin)
        throw terms.faults.other(new Error(`its files answered ${status}`));
      throw terms.faults.refusal({ status, headers: answer.headers, text });
    }
    const isTold = /^(?:video|audio|image)\//.test(type);
    return { mediaType: isTold ? type : 'video/mp4', body: bodyOf(answer, terms) };
  }
  throw terms.faults.other(new Error(`redirects more than ${MOST_REDIRECTS} times`));
}

function ask(address: URL, terms: DownloadTerms): Promise<IncomingMessage> {
  const { faults, signal, firstByteTimeoutMs } = terms;
  signal?.throwIfAborted();
  return new Promise((resolve, reject) => {
    const isOwn = address.origin === terms.origin;
    if (!isOwn) {
      if (address.protocol !== 'https:') throw faults.other(new Error('names a result that is not at https'));
      try {
        checkTarget(address.href, terms.isAllowedAddress);
      } catch (error) {
        throw faults.other(error);
      }
    }
    const send = address.protocol === 'https:' ? requestSecure : requestPlain;
    const request = send(address, {
      agent: false,
      headers: isOwn ? fieldsOf(terms.headers) : { accept: '*/*' },
      ...(!isOwn && {
        lookup: guardedLookup(terms.isAllowedAddress),
        ...(terms.authority !== undefined && { ca: terms.authority }),
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

/** An answer's bytes, by hand: a generator that is returned before its first step would leave the connection open. */
function bodyOf(answer: IncomingMessage, terms: DownloadTerms): AsyncIterableIterator<Uint8Array> {
  const { faults, signal, idleTimeoutMs } = terms;
  const pieces: AsyncIterator<Uint8Array> = answer[Symbol.asyncIterator]();
  const leave = (): void => {
    answer.destroy();
  };
  const close = (): void => {
    signal?.removeEventListener('abort', leave);
    answer.destroy();
  };
  // Whoever does not read on does not want to hear of its end either.
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
      try {
        const step = await pieces.next();
        signal?.throwIfAborted();
        if (isLate) throw faults.timeout(idleTimeoutMs);
        if (step.done === true) {
          isOver = true;
          close();
        }
        return step;
      } catch (error) {
        isOver = true;
        close();
        signal?.throwIfAborted();
        throw isLate ? faults.timeout(idleTimeoutMs) : faults.other(error);
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

async function beginningOf(answer: IncomingMessage, terms: DownloadTerms): Promise<string> {
  const pieces: Uint8Array[] = [];
  let size = 0;
  try {
    for await (const piece of bodyOf(answer, terms)) {
      pieces.push(piece);
      size += piece.length;
      if (size > REFUSAL_BYTES) break;
    }
  } catch {
    // A refusal that breaks off is still that refusal.
    terms.signal?.throwIfAborted();
  }
  return Buffer.concat(pieces).toString('utf8', 0, REFUSAL_BYTES);
}

function fieldsOf(pairs: readonly string[]): Record<string, string> {
  const fields: Record<string, string> = {};
  for (let place = 0; place < pairs.length; place += 2) {
    const name = pairs[place] ?? '';
    // Nothing is sent along that would have a type.
    if (name !== 'content-type') fields[name] = pairs[place + 1] ?? '';
  }
  return fields;
}
