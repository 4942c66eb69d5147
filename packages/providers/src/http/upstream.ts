import { type MediaStream, ProviderError } from '@questline/core/ports';
// Not 'undici': Bun replaces that module with its own, which has no dispatch and no close.
import { Pool } from 'undici/index.js';
import { isPublicAddress } from '../web/addresses.ts';
import { type DownloadOptions, download } from './download.ts';
import { type EventDecoder, EventStream } from './event-stream.ts';
import { Exchange, type ResponseOptions } from './exchange.ts';
import { type ErrorReader, Faults } from './faults.ts';

/** Connection options of a provider. Times are whole milliseconds below 2^31; 0 means no limit. */
export interface ConnectionOptions {
  /** Maximum open connections; further calls wait for one. Default: no maximum. */
  readonly connections?: number;
  /** Connection timeout. Default 10,000. */
  readonly connectTimeoutMs?: number;
  /** Timeout until the first byte of the response body, including the wait for a connection. Default 120,000. */
  readonly firstByteTimeoutMs?: number;
  /** Timeout between two reads, to about a second. Reasoning models may be silent for minutes. Default 300,000. */
  readonly idleTimeoutMs?: number;
  /** Time after which an unused connection closes. Default 30,000. */
  readonly keepAliveMs?: number;
  /**
   * Permitted addresses for results that a provider stores on another host. Default: addresses of
   * the public internet.
   */
  readonly isAllowedAddress?: (address: string) => boolean;
}

/** The maximum delay of a timer. */
const maxMs = 2 ** 31 - 1;

function milliseconds(name: string, value: number): number {
  if (Number.isInteger(value) && value >= 0 && value <= maxMs) return value;
  throw new RangeError(`${name} must be whole milliseconds, from 0 to ${maxMs}`);
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
  /** The key in the headers, to remove it from error texts. Empty without a key. */
  readonly key: string;
  readonly signal: AbortSignal | undefined;
}

/** A response that is not JSON. */
export interface WholeAnswer {
  readonly contentType: string;
  readonly data: Uint8Array;
}

/** The connections to a provider. */
export interface Upstream {
  /** Resolves when the provider begins to stream. */
  stream(call: UpstreamCall, decoder: (faults: Faults) => EventDecoder): Promise<EventStream>;
  /** The parsed response. */
  json(call: UpstreamCall): Promise<unknown>;
  /** The same for jobs: every 2xx is a success. Undefined for an empty body. */
  job(call: UpstreamCall): Promise<unknown>;
  /** The whole response as bytes, e.g. audio. */
  bytes(call: UpstreamCall): Promise<WholeAnswer>;
  /**
   * The content at a URL, in pieces: `path` below the base URL, or a URL from a response. Only the provider's own
   * origin receives the key; any other must use https and be on the public internet.
   */
  download(call: Omit<UpstreamCall, 'method' | 'body' | 'path'>, path: string | URL): Promise<MediaStream>;
  close(): Promise<void>;
}

/** Maximum size of a response that is not a stream: vectors of a full batch are the largest. */
const answerLimit = 64 * 1024 * 1024;

/** The characters of a key that a header can contain. */
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
    // The deadline of the exchange includes the wait for a connection.
    headersTimeout: 0,
    bodyTimeout: milliseconds('idleTimeoutMs', options.idleTimeoutMs ?? 300_000),
    keepAliveTimeout: milliseconds('keepAliveMs', options.keepAliveMs ?? 30_000) || 1,
  });

  const { idleTimeoutMs = 300_000, isAllowedAddress = isPublicAddress } = options;
  const downloads: Omit<DownloadOptions, 'faults' | 'headers' | 'signal'> = {
    origin: url.origin,
    firstByteTimeoutMs,
    idleTimeoutMs,
    isAllowedAddress,
  };
  const noDocument: ResponseOptions = { firstByteTimeoutMs, accepts: isNoDocument };
  const document: ResponseOptions = { firstByteTimeoutMs, accepts: isJson };
  const acceptedJob: ResponseOptions = { ...document, anySuccess: true };
  let closed: Promise<void> | undefined;

  const getPath = (path: string): string =>
    prefix + path + (path.includes('?') ? url.search.replace('?', '&') : url.search);

  function open(call: UpstreamCall, exchange: Exchange): void {
    const path = getPath(call.path);
    const { method = 'POST', body = null } = call;
    pool.dispatch({ path, method, headers: call.headers as string[], body }, exchange);
  }

  function getFaults(call: UpstreamCall): Faults {
    call.signal?.throwIfAborted();
    if (call.key !== '' && !visible.test(call.key)) {
      throw new ProviderError('rejected_key', `${provider}: the key holds characters that no key has`);
    }
    return new Faults(provider, call.key, read);
  }

  /** Collects the response up to a maximum. */
  async function whole(
    call: UpstreamCall,
    faults: Faults,
    options: ResponseOptions,
  ): Promise<WholeAnswer & { data: Buffer }> {
    const chunks: Buffer[] = [];
    let size = 0;
    let exchange: Exchange | undefined;
    await new Promise<void>((resolve, reject) => {
      exchange = new Exchange(options, faults, call.signal, {
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
      const faults = getFaults(call);
      const stream = new EventStream(decoder(faults), (error) => faults.other(error));
      const exchange = new Exchange(noDocument, faults, call.signal, stream);
      stream.attach(exchange);
      open(call, exchange);
      await exchange.answered;
      return stream;
    },

    async json(call) {
      const faults = getFaults(call);
      const { data } = await whole(call, faults, document);
      try {
        return JSON.parse(data.toString('utf8'));
      } catch (error) {
        throw faults.other(error);
      }
    },

    async job(call) {
      const faults = getFaults(call);
      const { data } = await whole(call, faults, acceptedJob);
      try {
        return data.length === 0 ? undefined : JSON.parse(data.toString('utf8'));
      } catch (error) {
        throw faults.other(error);
      }
    },

    async download({ headers, signal, ...call }, path) {
      const faults = getFaults({ ...call, headers, signal, path: '' });
      const address = typeof path === 'string' ? new URL(url.origin + getPath(path)) : path;
      return download(address, { ...downloads, faults, headers, signal });
    },

    bytes: (call) => whole(call, getFaults(call), noDocument),

    close() {
      closed ??= pool.close();
      return closed;
    },
  };
}

/** Compatible servers use various content types for streams, but never JSON or HTML. */
function isNoDocument(type: string): boolean {
  return !type.includes('json') && !type.includes('html');
}

function isJson(type: string): boolean {
  return type === '' || type.includes('json');
}
