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
}

/** Signed requests to one bucket. */
export interface S3Client {
  /** @throws S3Failure for every answer that is neither 2xx nor among `expected`. */
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

export function createS3Client(options: S3Options): S3Client {
  const { endpoint, publicEndpoint = endpoint, prefix = '' } = options;
  const inner = bucketUrl(endpoint, options);
  const outer = bucketUrl(publicEndpoint, options);
  const aws = new AwsClient({
    accessKeyId: options.accessKeyId,
    secretAccessKey: options.secretAccessKey,
    ...(options.sessionToken !== undefined && { sessionToken: options.sessionToken }),
    region: options.region,
    service: 's3',
    retries: RETRIES,
    initRetryMs: 100,
  });

  const getUrl = (base: string, { key, query = {} }: S3Request): URL => {
    const url = new URL(`${base}/${prefix}${key}`);
    for (const [name, value] of Object.entries(query)) url.searchParams.set(name, value);
    return url;
  };

  return {
    bucketUrl: outer,

    async send(request, expected = []) {
      const { method, headers = {}, body, signal } = request;
      signal?.throwIfAborted();
      const response = await aws.fetch(getUrl(inner, request).href, {
        method,
        headers: { ...headers },
        ...(body !== undefined && { body: body as Uint8Array<ArrayBuffer> | string }),
        ...(signal !== undefined && { signal }),
      });
      if (response.ok || expected.includes(response.status)) return response;
      const text = method === 'HEAD' ? '' : await response.text();
      throw new S3Failure(method, response.status, /<Code>(\w{1,64})<\/Code>/.exec(text)?.[1] ?? '');
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
