import type { StopSignal } from '../shared/stop-signal.ts';

/** Header names in lower case; a repeated header is a list, as `node:http` gives it. */
export type ApiHeaders = Readonly<Record<string, string | readonly string[] | undefined>>;

/** A request body. It is read on demand. */
export interface ApiBody {
  /** The result of the host's body parser, if one ran: an object, text or bytes. */
  readonly parsed?: unknown;
  /** Reads the whole body. Rejects with `BodyTooLarge` after more than `limit` bytes. */
  bytes(limit: number): Promise<Uint8Array>;
  /** Streams the body, for uploads. Can be read once. */
  stream(): AsyncIterable<Uint8Array>;
}

/**
 * A request, independent of the host framework. Adapters implement it as a class with prototype getters: an object
 * literal with closures costs ten times as much per request.
 */
export interface ApiRequest {
  readonly method: string;
  /** Raw path below the mount point, still percent-encoded, without the query. */
  readonly path: string;
  /** The mount path of the API in the host, e.g. `/ai`; empty at the root. Prefix of every path in a response. */
  readonly mountPath: string;
  /** Raw query without the question mark. */
  readonly query: string;
  readonly headers: ApiHeaders;
  readonly body: ApiBody;
  /** Aborted when the client has disconnected before the answer was finished. */
  readonly signal: AbortSignal;
  /** The same as `signal`, for streams; takes less memory. Absent: `signal` serves. */
  readonly connection?: StopSignal;
  readonly remoteAddress: string | undefined;
  /** The protocol of the client's request, as known by the host. */
  readonly protocol: 'http' | 'https';
  /** Path parameters from the host's router, when a single operation is mounted at a custom path. */
  readonly params?: Readonly<Record<string, string>>;
}

/** The body of a response: text, bytes, a stream of both, or undefined for none. */
export type ApiResponseBody = string | Uint8Array | AsyncIterable<string | Uint8Array> | undefined;

/**
 * A response, independent of the host framework. An adapter must iterate a streamed body or call its iterator's
 * `return()`; otherwise its cleanup never runs.
 */
export interface ApiResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: ApiResponseBody;
}

/** Anything that an adapter can mount: a complete API or one route. */
export interface Mountable {
  /** @returns undefined if the path is not part of the API; the request is unchanged and the host continues. */
  handle(request: ApiRequest): Promise<ApiResponse | undefined>;
}

/** Rejection of `ApiBody.bytes`: the body exceeds `limit` bytes. */
export class BodyTooLarge extends Error {
  override readonly name = 'BodyTooLarge';
  readonly limit: number;
  constructor(limit: number) {
    super(`the body is larger than ${limit} bytes`);
    this.limit = limit;
  }
}

/** Returns the first value of a header. */
export function header(headers: ApiHeaders, name: string): string | undefined {
  const value = headers[name];
  return typeof value === 'string' ? value : value?.[0];
}
