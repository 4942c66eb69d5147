import { ApiError } from '../errors.ts';
import { type ApiRequest, header } from '../http/message.ts';
import type { ObjectStore, UploadTerms } from '../ports/objects.ts';

/** Whoever hands out upload links has a say in what happens with them. */
export interface UploadWatch {
  /** The first part of the keys it is about. */
  readonly prefix: string;
  /** Whether bytes are still wanted there. Asked before any are read. */
  isOpen(key: string): Promise<boolean>;
  /** The bytes are there. */
  arrived(key: string): Promise<void>;
}

export interface UploadServices {
  readonly objects: ObjectStore;
  readonly uploadWatches: readonly UploadWatch[];
}

type Terms = Pick<UploadTerms, 'key' | 'contentType' | 'size'>;

/**
 * Writes the bytes of an upload, of exactly the size the link is for.
 * @throws ApiError 403 when they are not wanted any more, 413 for more, 400 for fewer or a body that breaks off.
 */
export async function takeUpload(
  services: UploadServices,
  { key, contentType, size }: Terms,
  body: AsyncIterable<Uint8Array>,
  signal: AbortSignal,
): Promise<void> {
  const watch = services.uploadWatches.find(({ prefix }) => key.startsWith(`${prefix}/`));
  if (watch !== undefined && !(await watch.isOpen(key))) throw badLink();
  const failure: { cause?: ApiError } = {};
  try {
    await services.objects.put(key, exactly(body, size, failure), { contentType, size }, { signal });
  } catch (error) {
    // Whatever a store makes of a body that fails, the client is told of the body.
    throw failure.cause ?? error;
  }
  await watch?.arrived(key);
}

/** @throws ApiError for a length that is announced, and wrong. */
export function checkLength(request: ApiRequest, size: number): void {
  const length = header(request.headers, 'content-length');
  if (length !== undefined && Number(length) > size) throw tooLong(size);
  if (length !== undefined && Number(length) < size) throw tooShort(size);
}

export function badLink(): ApiError {
  return new ApiError(403, 'This link is not valid, has ended or was used already');
}

async function* exactly(
  body: AsyncIterable<Uint8Array>,
  size: number,
  failure: { cause?: ApiError },
): AsyncGenerator<Uint8Array> {
  let count = 0;
  try {
    for await (const chunk of body) {
      count += chunk.length;
      if (count > size) throw tooLong(size);
      yield chunk;
    }
    if (count < size) throw tooShort(size);
  } catch (error) {
    failure.cause =
      error instanceof ApiError
        ? error
        : new ApiError(400, 'the body could not be read to its end', { cause: error });
    throw failure.cause;
  }
}

function tooLong(size: number): ApiError {
  return new ApiError(413, `the upload is larger than the ${size} bytes it was announced with`, {
    extra: { maxSize: size },
  });
}

function tooShort(size: number): ApiError {
  return new ApiError(400, `the upload is smaller than the ${size} bytes it was announced with`);
}
