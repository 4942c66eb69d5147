import { readAnswer, type S3Client } from './client.ts';

/** Part size of an upload of unknown length. The service requires at least 5 MiB; one part is kept in memory. */
export const PART_BYTES = 8 * 2 ** 20;

interface PartsOptions {
  readonly client: S3Client;
  readonly key: string;
  readonly contentType: string;
  readonly signal: AbortSignal | undefined;
}

/** Writes an object in parts. It is invisible before the last part; after a failure, the parts are deleted. */
export async function putParts(
  { client, key, contentType, signal }: PartsOptions,
  parts: AsyncIterable<Uint8Array>,
): Promise<void> {
  const headers = { 'content-type': contentType };
  const begun = await client.send({ method: 'POST', key, query: { uploads: '' }, headers, signal });
  const uploadId = /<UploadId>([^<]+)<\/UploadId>/.exec(await readAnswer(begun.text(), signal))?.[1];
  if (uploadId === undefined) throw new Error('the object store began no upload');
  try {
    const etags: string[] = [];
    for await (const body of parts) {
      const query = { partNumber: String(etags.length + 1), uploadId };
      const response = await client.send({ method: 'PUT', key, query, body, signal });
      etags.push(response.headers.get('etag') ?? '');
      await readAnswer(response.arrayBuffer(), signal);
    }
    const list = etags.map(
      (etag, at) => `<Part><PartNumber>${at + 1}</PartNumber><ETag>${etag}</ETag></Part>`,
    );
    const body = `<CompleteMultipartUpload>${list.join('')}</CompleteMultipartUpload>`;
    const ended = await client.send({ method: 'POST', key, query: { uploadId }, body, signal });
    // A failure at the very end comes after the status was sent.
    if (/<Error>/.test(await readAnswer(ended.text(), signal)))
      throw new Error('the object store could not put the parts together');
  } catch (error) {
    await client.send({ method: 'DELETE', key, query: { uploadId } }).catch(() => undefined);
    throw error;
  }
}

/** The same bytes in pieces of one size; the last one is smaller. */
export async function* inParts(
  body: AsyncIterable<Uint8Array>,
  bytes: number,
  signal: AbortSignal | undefined,
): AsyncGenerator<Uint8Array> {
  let held: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of body) {
    signal?.throwIfAborted();
    // The source may use its own bytes again.
    let rest = Uint8Array.from(chunk);
    while (size + rest.length >= bytes) {
      const fitting = rest.subarray(0, bytes - size);
      yield Buffer.concat([...held, fitting]);
      rest = rest.subarray(fitting.length);
      held = [];
      size = 0;
    }
    if (rest.length > 0) held.push(rest);
    size += rest.length;
  }
  if (size > 0) yield Buffer.concat(held, size);
}
