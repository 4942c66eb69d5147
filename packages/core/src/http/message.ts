/** Header names in lower case; a repeated header is a list, as `node:http` gives it. */
export type ApiHeaders = Readonly<Record<string, string | readonly string[] | undefined>>;

/** A request's body, not read until somebody asks. */
export interface ApiBody {
  /** What the host's own body parser made of it, if one ran before us: an object, text or bytes. */
  readonly parsed?: unknown;
  /** The whole body. Rejects with `BodyTooLarge` once more than `limit` bytes arrive. */
  bytes(limit: number): Promise<Uint8Array>;
  /** The body as it arrives, for uploads. Can be read once. */
  stream(): AsyncIterable<Uint8Array>;
}

/**
 * A request, host-neutral. Bridges implement it as a class with getters on the prototype: an object literal with
 * closures costs ten times as much per request.
 */
export interface ApiRequest {
  readonly method: string;
  /** Raw path below the mount point, still percent-encoded, without the query. */
  readonly path: string;
  /** Where the api is mounted in the host, e.g. `/ai`; empty at the root. Goes in front of every path we hand out. */
  readonly mountPath: string;
  /** Raw query without the question mark. */
  readonly query: string;
  readonly headers: ApiHeaders;
  readonly body: ApiBody;
  /** Aborted when the client has left before the answer was finished. */
  readonly signal: AbortSignal;
  readonly remoteAddress: string | undefined;
  /** How the request reached this process, as far as the host can tell. */
  readonly protocol: 'http' | 'https';
  /** Path parameters the host's router found, when one operation is mounted at a path of the host's own. */
  readonly params?: Readonly<Record<string, string>>;
}

export type ApiResponseBody = string | Uint8Array | AsyncIterable<string | Uint8Array> | undefined;

/**
 * An answer, host-neutral. Whoever receives a streamed body must iterate it or call its iterator's `return()`: what has
 * to happen at its end hangs on that.
 */
export interface ApiResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: ApiResponseBody;
}

/** Anything an adapter can mount: a whole api, or one route. */
export interface Mountable {
  /** @returns undefined when the request is not ours: the host carries on, the request untouched. */
  handle(request: ApiRequest): Promise<ApiResponse | undefined>;
}

export class BodyTooLarge extends Error {
  override readonly name = 'BodyTooLarge';
  readonly limit: number;
  constructor(limit: number) {
    super(`the body is larger than ${limit} bytes`);
    this.limit = limit;
  }
}

/** The first value of a header. */
export function header(headers: ApiHeaders, name: string): string | undefined {
  const value = headers[name];
  return typeof value === 'string' ? value : value?.[0];
}
