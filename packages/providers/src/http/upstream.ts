import { type MediaStream, ProviderError } from '@questline/core';
import { Pool } from 'undici';
import { isPublicAddress } from '../web/addresses.ts';
import { type DownloadTerms, download } from './download.ts';
import { type EventDecoder, EventStream } from './event-stream.ts';
import { type AnswerTerms, Exchange } from './exchange.ts';
import { type ErrorReader, Faults } from './faults.ts';

/** How a provider's connections behave. Times are whole milliseconds below 2^31; 0 means no bound. */
export interface ConnectionOptions {
  /** Connections open at once; more calls wait for a free one. Default: no bound. */
  readonly connections?: number;
  /** How long a connection may take to open. Default 10,000. */
  readonly connectTimeoutMs?: number;
  /** From sending until the first byte of the answer's body, waiting for a connection included. Default 120,000. */
  readonly firstByteTimeoutMs?: number;
  /** Between two reads of an answer, to about a second. Reasoning models may be silent for minutes. Default 300,000. */
  readonly idleTimeoutMs?: number;
  /** How long an unused connection is kept. Default 30,000. */
  readonly keepAliveMs?: number;
  /**
   * Which addresses a film may be fetched from that a provider keeps on another host than its own. Default: those of
   * the open internet.
   */
  readonly isAllowedAddress?: (address: string) => boolean;
}

/** The longest a timer can wait. */
const longestMs = 2 ** 31 - 1;

function milliseconds(name: string, value: number): number {
  if (Number.isInteger(value) && value >= 0 && value <= longestMs) return value;
  throw new RangeError(`${name} must be whole milliseconds, from 0 to ${longestMs}`);
}

/** One request to a provider. */
export interface UpstreamCall {
  /** Below the base URL. */
  readonly path: string;
  /** Names and values, alternating. */
  readonly headers: readonly string[];
  /** Default `POST`. */
  readonly method?: 'GET' | 'POST' | 'DELETE';
  /** JSON text, or bytes of the type in the headers. */
  readonly body?: string | Uint8Array;
  /** The key in the headers, so that no error text carries it. */
  readonly key: string;
  readonly signal: AbortSignal | undefined;
}

/** An answer that is no JSON. */
export interface WholeAnswer {
  readonly contentType: string;
  readonly data: Uint8Array;
}

/** A provider's address and the connections to it. */
export interface Upstream {
  /** Resolves when the provider has begun to stream. */
  stream(call: UpstreamCall, decoder: (faults: Faults) => EventDecoder): Promise<EventStream>;
  /** The parsed answer. */
  json(call: UpstreamCall): Promise<unknown>;
  /** The same of work that takes its time: any 2xx will do. Undefined when nothing was answered. */
  job(call: UpstreamCall): Promise<unknown>;
  /** The whole answer as bytes, e.g. sound. */
  bytes(call: UpstreamCall): Promise<WholeAnswer>;
  /**
   * What is at an address, piece by piece: `path` below the base URL, or what an answer named. Only the provider's own
   * origin is sent the key; any other must be https and on the open internet.
   */
  download(call: Omit<UpstreamCall, 'method' | 'body' | 'path'>, path: string | URL): Promise<MediaStream>;
  close(): Promise<void>;
}

/** Answers that are no streams: vectors of a full batch are the largest. */
const answerLimit = 64 * 1024 * 1024;

/** What a key may consist of, so that it can stand in a header. */
const visible = /^[\x21-\x7e]+$/;

/**
 * Connects a provider, named for its error texts, to its address.
 * @throws RangeError for a time out of range, TypeError for an address that is no URL.
 */
export function createUpstream(
  provider: string,
  baseUrl: string,
  read: ErrorReader,
  options: ConnectionOptions,
): Upstream {
  const url = new URL(baseUrl);
  const prefix = url.pathname.replace(/\/+$/, '');
  const firstByteTimeoutMs = milliseconds('firstByteTimeoutMs', options.firstByteTimeoutMs ?? 120_000);
  const pool = new Pool(url.origin, {
    connections: options.connections ?? null,
    connect: { timeout: milliseconds('connectTimeoutMs', options.connectTimeoutMs ?? 10_000) },
    // The exchange has a deadline of its own, which covers the wait for a connection too.
    headersTimeout: 0,
    bodyTimeout: milliseconds('idleTimeoutMs', options.idleTimeoutMs ?? 300_000),
    keepAliveTimeout: milliseconds('keepAliveMs', options.keepAliveMs ?? 30_000) || 1,
  });

  const { idleTimeoutMs = 300_000, isAllowedAddress = isPublicAddress } = options;
  const downloads: Omit<DownloadTerms, 'faults' | 'headers' | 'signal'> = {
    origin: url.origin,
    firstByteTimeoutMs,
    idleTimeoutMs,
    isAllowedAddress,
  };
  const noDocument: AnswerTerms = { firstByteTimeoutMs, accepts: isNoDocument };
  const document: AnswerTerms = { firstByteTimeoutMs, accepts: isJson };
  const acceptedJob: AnswerTerms = { ...document, anySuccess: true };
  let closed: Promise<void> | undefined;

  const pathOf = (path: string): string =>
    prefix + path + (path.includes('?') ? url.search.replace('?', '&') : url.search);

  function open(call: UpstreamCall, exchange: Exchange): void {
    const path = pathOf(call.path);
    const { method = 'POST', body = null } = call;
    pool.dispatch({ path, method, headers: call.headers as string[], body }, exchange);
  }

  function faultsOf(call: UpstreamCall): Faults {
    call.signal?.throwIfAborted();
    if (!visible.test(call.key)) {
      throw new ProviderError('rejected_key', `${provider}: the key holds characters that no key has`);
    }
    return new Faults(provider, call.key, read);
  }

  /** Everything that was answered, up to a bound. */
  async function whole(
    call: UpstreamCall,
    faults: Faults,
    terms: AnswerTerms,
  ): Promise<WholeAnswer & { data: Buffer }> {
    const chunks: Buffer[] = [];
    let size = 0;
    let exchange: Exchange | undefined;
    await new Promise<void>((resolve, reject) => {
      exchange = new Exchange(terms, faults, call.signal, {
        data(chunk) {
          chunks.push(chunk);
          size += chunk.length;
          if (size > answerLimit)
            exchange?.stop(faults.other(new Error(`answered more than ${answerLimit} bytes`)));
        },
        over(failure) {
          if (failure === undefined) resolve();
          else reject(failure.error);
        },
      });
      exchange.answered.catch(reject);
      open(call, exchange);
    });
    return { contentType: exchange?.contentType ?? '', data: Buffer.concat(chunks) };
  }

  return {
    async stream(call, decoder) {
      const faults = faultsOf(call);
      const stream = new EventStream(decoder(faults), (error) => faults.other(error));
      const exchange = new Exchange(noDocument, faults, call.signal, stream);
      stream.attach(exchange);
      open(call, exchange);
      await exchange.answered;
      return stream;
    },

    async json(call) {
      const faults = faultsOf(call);
      const { data } = await whole(call, faults, document);
      try {
        return JSON.parse(data.toString('utf8'));
      } catch (error) {
        throw faults.other(error);
      }
    },

    async job(call) {
      const faults = faultsOf(call);
      const { data } = await whole(call, faults, acceptedJob);
      try {
        return data.length === 0 ? undefined : JSON.parse(data.toString('utf8'));
      } catch (error) {
        throw faults.other(error);
      }
    },

    async download({ headers, signal, ...call }, path) {
      const faults = faultsOf({ ...call, headers, signal, path: '' });
      const address = typeof path === 'string' ? new URL(url.origin + pathOf(path)) : path;
      return download(address, { ...downloads, faults, headers, signal });
    },

    bytes: (call) => whole(call, faultsOf(call), noDocument),

    close() {
      closed ??= pool.close();
      return closed;
    },
  };
}

/** Compatible servers label their streams in many ways; a JSON document or a page is never one. */
function isNoDocument(type: string): boolean {
  return !type.includes('json') && !type.includes('html');
}

function isJson(type: string): boolean {
  return type === '' || type.includes('json');
}
