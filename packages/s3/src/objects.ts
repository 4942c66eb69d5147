import { attachmentDisposition } from '@questline/core/internal';
import type { ObjectInfo, ObjectStore } from '@questline/core/ports';
import { createS3Client, readAnswer, type S3Client, type S3Options } from './client.ts';
import { signForm } from './forms.ts';
import { inParts, PART_BYTES, putParts } from './parts.ts';

export type { S3Options } from './client.ts';

/** `[a-z0-9_-]`, in parts parted by single slashes: what the port promises, and nothing that would need encoding. */
const KEY = /^[a-z0-9_-]+(?:\/[a-z0-9_-]+)*$/;

/** Objects in a bucket of an S3-compatible service. The bucket must exist; nothing in it need be public. */
export function createS3Objects(options: S3Options): ObjectStore {
  const client = createS3Client(options);

  const head: ObjectStore['head'] = async (key, { signal } = {}) => {
    const response = await client.send({ method: 'HEAD', key, signal }, [404]);
    return response.status === 404 ? undefined : getInfo(key, response);
  };

  return {
    head,

    async put(key, body, { contentType, size }, { signal } = {}) {
      signal?.throwIfAborted();
      if (!KEY.test(key)) throw new TypeError('an object key of another form');
      if (body instanceof Uint8Array) {
        checkSize(body.length, size);
        return putWhole(client, key, body, contentType, signal);
      }
      const parts = inParts(sized(body, size), PART_BYTES, signal);
      const first = await parts.next();
      try {
        const second = first.done === true ? first : await parts.next();
        if (second.done === true) {
          return await putWhole(client, key, first.value ?? new Uint8Array(0), contentType, signal);
        }
        await putParts({ client, key, contentType, signal }, joined([first.value, second.value], parts));
      } finally {
        await parts.return(undefined);
      }
      const info = await head(key);
      if (info === undefined) throw new Error('the object store lost what it has just taken');
      return info;
    },

    async get(key, range, { signal } = {}) {
      if (range !== undefined && (range.start < 0 || range.end < range.start)) {
        throw new RangeError(`bytes ${range.start}-${range.end}`);
      }
      const headers = range === undefined ? {} : { range: `bytes=${range.start}-${range.end}` };
      const response = await client.send({ method: 'GET', key, headers, signal }, [404, 416]);
      if (response.status === 404 || response.status === 416) {
        await readAnswer(response.arrayBuffer(), signal);
        if (response.status === 404) return undefined;
        throw new RangeError(`bytes ${range?.start}-${range?.end}`);
      }
      return { ...getInfo(key, response), body: readBody(response, signal) };
    },

    async remove(key, { signal } = {}) {
      const response = await client.send({ method: 'DELETE', key, signal }, [404]);
      await readAnswer(response.arrayBuffer(), signal);
    },

    async signPut({ key, contentType, size, expiresAt }) {
      const headers = { 'content-type': contentType };
      const signed = { ...headers, 'content-length': String(size) };
      const url = await client.presign({ method: 'PUT', key, headers: signed }, expiresAt);
      return { url, fields: headers, expiresAt };
    },

    async signPost(terms) {
      return signForm(options, client.bucketUrl, terms);
    },

    async signGet(key, { expiresAt, contentType, attachment }) {
      const query = {
        ...(contentType !== undefined && { 'response-content-type': contentType }),
        ...(attachment !== undefined && {
          'response-content-disposition': attachmentDisposition(attachment),
        }),
      };
      return client.presign({ method: 'GET', key, query }, expiresAt);
    },
  };
}

async function putWhole(
  client: S3Client,
  key: string,
  body: Uint8Array,
  contentType: string,
  signal: AbortSignal | undefined,
): Promise<ObjectInfo> {
  const headers = { 'content-type': contentType };
  const response = await client.send({ method: 'PUT', key, headers, body, signal });
  await readAnswer(response.arrayBuffer(), signal);
  return { key, size: body.length, contentType, etag: readEtag(response) };
}

function getInfo(key: string, { headers }: Response): ObjectInfo & { etag: string } {
  const whole = /\/(\d+)$/.exec(headers.get('content-range') ?? '')?.[1];
  return {
    key,
    size: Number(whole ?? headers.get('content-length')),
    contentType: headers.get('content-type') ?? 'application/octet-stream',
    etag: readEtag({ headers }),
  };
}

function readEtag({ headers }: Pick<Response, 'headers'>): string {
  return (headers.get('etag') ?? '').replace(/^W\//, '').replaceAll('"', '');
}

async function* readBody({ body }: Response, signal: AbortSignal | undefined): AsyncGenerator<Uint8Array> {
  const chunks = body?.[Symbol.asyncIterator]();
  try {
    for (;;) {
      const next = chunks && (await readAnswer(chunks.next(), signal));
      if (next === undefined || next.done === true) return;
      yield next.value;
    }
  } finally {
    await chunks?.return?.();
  }
}

/** Fails when it ends with another number of bytes than was announced. */
async function* sized(body: AsyncIterable<Uint8Array>, size: number | undefined): AsyncGenerator<Uint8Array> {
  let length = 0;
  for await (const chunk of body) {
    length += chunk.length;
    if (size !== undefined && length > size) checkSize(length, size);
    yield chunk;
  }
  checkSize(length, size);
}

function checkSize(length: number, size: number | undefined): void {
  if (size !== undefined && length !== size) {
    throw new RangeError(`the object has ${length} bytes or more, not ${size}`);
  }
}

async function* joined<T>(first: readonly T[], rest: AsyncIterable<T>): AsyncGenerator<T> {
  yield* first;
  yield* rest;
}
