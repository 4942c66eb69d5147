import { setTimeout as pause } from 'node:timers/promises';
import { StorageUnavailable } from '@questline/core/ports';
import { AwsClient } from 'aws4fetch';

/** The location of the bucket, and the credentials. */
export interface S3Options {
  /** Of the service, without the bucket, e.g. `https://s3.eu-central-1.amazonaws.com` or `http://127.0.0.1:9000`. */
  readonly endpoint: string;
  readonly bucket: string;
  readonly region: string;
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken?: string;
  /** Prefix of every key, e.g. `questline/`, for a bucket with other content. Default: none. */
  readonly prefix?: string;
  /** `path`: the bucket is the first part of the path. `host`: it is the first part of the host name. Default `path`. */
  readonly style?: 'path' | 'host';
  /** The endpoint for browsers, if it differs. Default: `endpoint`. */
  readonly publicEndpoint?: string;
  /**
   * Milliseconds until the service must answer a request, repetitions included; a request with a body has a second more for
   * each 100 KB. 1 to 3,600,000. Default 20,000.
   */
  readonly timeoutMs?: number;
}

/** Signed requests to one bucket. */
export interface S3Client {
  /**
   * @throws StorageUnavailable when the service is unreachable or overloaded, fails or does not answer in time. S3Failure for every other
   * answer that is neither 2xx nor among `expected`.
   */
  send(request: S3Request, expected?: readonly number[]): Promise<Response>;
  /** A signed URL with an expiry. Headers are signed too: the client must send them. */
  presign(request: S3Request, expiresAt: number): Promise<string>;
  /** The address of the bucket, as browsers reach it. */
  readonly bucketUrl: string;
}

export interface S3Request {
  readonly method: 'GET' | 'HEAD' | 'PUT' | 'POST' | 'DELETE';
  /** Behind the prefix. */
  readonly key: string;
  readonly query?: Readonly<Record<string, string>>;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: Uint8Array | string;
  readonly signal?: AbortSignal | undefined;
}

/** An error response of the service. Leaves out its message, which may quote the request. */
class S3Failure extends Error {
  override readonly name = 'S3Failure';
  readonly status: number;
  constructor(method: string, status: number, code: string) {
    super(`the object store answered ${method} with ${status}${code === '' ? '' : ` (${code})`}`);
    this.status = status;
  }
}

/** Of calls that may be repeated without harm. */
const RETRIES = 2;
const FIRST_PAUSE_MS = 100;
const TIMEOUT_MS = 20_000;
const MAX_TIMEOUT_MS = 3_600_000;
/** Bytes of a body that are sent within a millisecond at least. */
const MIN_BYTES_PER_MS = 100;

/** @throws RangeError for a timeout out of its bounds. */
export function createS3Client(options: S3Options): S3Client {
  const { endpoint, publicEndpoint = endpoint, prefix = '', timeoutMs = TIMEOUT_MS } = options;
  if (!(timeoutMs >= 1 && timeoutMs <= MAX_TIMEOUT_MS)) {
    throw new RangeError(`timeoutMs: expected 1 to ${MAX_TIMEOUT_MS} milliseconds, got ${timeoutMs}`);
  }
  const inner = bucketUrl(endpoint, options);
  const outer = bucketUrl(publicEndpoint, options);
  const aws = new AwsClient({
    accessKeyId: options.accessKeyId,
    secretAccessKey: options.secretAccessKey,
    ...(options.sessionToken !== undefined && { sessionToken: options.sessionToken }),
    region: options.region,
    service: 's3',
  });

  const getUrl = (base: string, { key, query = {} }: S3Request): URL => {
    const url = new URL(`${base}/${prefix}${key}`);
    for (const [name, value] of Object.entries(query)) url.searchParams.set(name, value);
    return url;
  };

  /** Repeats a request that the service fails. */
  const fetchAgain = async (request: S3Request, signal: AbortSignal): Promise<Response> => {
    const { method, headers = {}, body } = request;
    const { href } = getUrl(inner, request);
    const init = {
      method,
      headers: { ...headers },
      ...(body !== undefined && { body: body as Uint8Array<ArrayBuffer> | string }),
    };
    for (let attempt = 0; ; attempt += 1) {
      // A signal of a `Request` is lost when the garbage collector takes the request.
      const response = await fetch(await aws.sign(href, init), { signal });
      if (!isTrouble(response) || attempt === RETRIES) return response;
      await response.arrayBuffer();
      await pause(Math.random() * FIRST_PAUSE_MS * 2 ** attempt, undefined, { signal });
    }
  };

  /** The timeout ends with the headers: the bytes of an answer may take longer. */
  const fetchInTime = async (request: S3Request): Promise<Response> => {
    const { body, signal } = request;
    signal?.throwIfAborted();
    const late = new AbortController();
    const timer = setTimeout(() => late.abort(), timeoutMs + (body?.length ?? 0) / MIN_BYTES_PER_MS);
    try {
      return await fetchAgain(
        request,
        signal === undefined ? late.signal : AbortSignal.any([signal, late.signal]),
      );
    } catch (error) {
      signal?.throwIfAborted();
      const what = late.signal.aborted ? 'did not answer in time' : 'is unreachable';
      throw new StorageUnavailable(`the object store ${what}`, { cause: error });
    } finally {
      clearTimeout(timer);
    }
  };

  return {
    bucketUrl: outer,

    async send(request, expected = []) {
      const { method } = request;
      const response = await fetchInTime(request);
      const { ok, status } = response;
      if (ok || expected.includes(status)) return response;
      const text = method === 'HEAD' ? '' : await response.text().catch(() => '');
      const failure = new S3Failure(method, status, /<Code>(\w{1,64})<\/Code>/.exec(text)?.[1] ?? '');
      if (isTrouble(response)) throw new StorageUnavailable(failure.message, { cause: failure });
      throw failure;
    },

    async presign(request, expiresAt) {
      const now = Date.now();
      const url = getUrl(outer, request);
      // Whole seconds, rounded so that the link never outlives what was asked for.
      url.searchParams.set('X-Amz-Expires', String(Math.max(1, Math.floor((expiresAt - now) / 1000))));
      const datetime = amzDate(now);
      const signed = await aws.sign(url.href, {
        method: request.method,
        headers: { ...request.headers },
        aws: { signQuery: true, allHeaders: true, datetime },
      });
      return signed.url;
    },
  };
}

/** Reads an answer. @throws StorageUnavailable when it breaks off. */
export async function readAnswer<T>(reading: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  try {
    return await reading;
  } catch (error) {
    signal?.throwIfAborted();
    throw new StorageUnavailable('the object store broke off its answer', { cause: error });
  }
}

/** The service fails or is overloaded. */
function isTrouble({ status }: Response): boolean {
  return status >= 500 || status === 429;
}

/** `20261121T120000Z` */
export function amzDate(now: number): string {
  return new Date(now).toISOString().replaceAll(/[:-]|\.\d{3}/g, '');
}

function bucketUrl(endpoint: string, { bucket, style = 'path' }: S3Options): string {
  const url = new URL(endpoint);
  const base = url.pathname.replace(/\/+$/, '');
  return style === 'host'
    ? `${url.protocol}//${bucket}.${url.host}${base}`
    : `${url.origin}${base}/${bucket}`;
}
