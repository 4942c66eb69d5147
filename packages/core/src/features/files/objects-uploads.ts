import { type ApiRequest, header } from '../../contract/message.ts';
import type { ObjectStore, UploadOptions } from '../../ports/objects.ts';
import { ApiError } from '../../shared/errors.ts';
import { type TransferServices, withTransfer } from './transfers.ts';

/** Decides about uploads to the links of one feature. */
export interface UploadWatch {
  /** The prefix of its object keys. */
  readonly prefix: string;
  /** Whether an upload is still accepted there. Called before any byte is read. */
  isOpen(key: string): Promise<boolean>;
  /** Called when the bytes are stored. */
  arrived(key: string): Promise<void>;
}

export interface UploadServices extends TransferServices {
  readonly objects: ObjectStore;
  readonly uploadWatches: readonly UploadWatch[];
}

type Terms = Pick<UploadOptions, 'key' | 'contentType' | 'size'>;

/**
 * Writes the bytes of an upload, of exactly the size in the link, one transfer to an address at a time.
 * @throws ApiError 403 when the upload is not accepted any more, 409 during another transfer, 413 for more bytes, 400 for fewer or an interrupted body.
 */
export async function takeUpload(
  services: UploadServices,
  { key, contentType, size }: Terms,
  body: AsyncIterable<Uint8Array>,
  signal: AbortSignal,
): Promise<void> {
  const watch = services.uploadWatches.find(({ prefix }) => key.startsWith(`${prefix}/`));
  if (watch !== undefined && !(await watch.isOpen(key))) throw badLink();
  await withTransfer(services, key, signal, async (live) => {
    // The previous transfer may have completed the upload.
    if (watch !== undefined && !(await watch.isOpen(key))) throw badLink();
    const failure: { cause?: ApiError } = {};
    try {
      await services.objects.put(key, exactly(body, size, failure), { contentType, size }, { signal: live });
    } catch (error) {
      // An invalid body takes precedence over the store's error.
      throw failure.cause ?? error;
    }
    await watch?.arrived(key);
  });
}

/** @throws ApiError for a wrong declared length. */
export function checkLength(request: ApiRequest, size: number): void {
  // Not a number without a declaration.
  const length = Number(header(request.headers, 'content-length'));
  if (length > size) throw tooLong(size);
  if (length < size) throw tooShort(size);
}

export function badLink(): ApiError {
  return new ApiError(403, 'This link is invalid, has expired or was already used');
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
