import type { CallOptions } from './options.ts';

/** An object without its bytes; `size` is in bytes. */
export interface ObjectInfo {
  readonly key: string;
  readonly size: number;
  readonly contentType: string;
  /** Changes whenever the bytes change. */
  readonly etag: string;
}

/** An object with its bytes, or with the requested range of them. */
export interface ObjectContent extends ObjectInfo {
  /**
   * The requested bytes. The caller must read them to the end or end the iteration (`return`); an open body may hold
   * a connection.
   */
  readonly body: AsyncIterable<Uint8Array>;
}

/** A permission to upload one object until `expiresAt`, in epoch milliseconds. */
export interface SignedUpload {
  readonly url: string;
  /** Headers (PUT) that the uploader must send, or form fields (POST) that must precede the `file` part. */
  readonly fields: Readonly<Record<string, string>>;
  readonly expiresAt: number;
}

/** The object that a signed URL may write. */
export interface UploadOptions {
  readonly key: string;
  readonly contentType: string;
  /** Exact size in bytes. */
  readonly size: number;
  /** Epoch milliseconds. */
  readonly expiresAt: number;
}

/** How a signed URL serves its object. */
export interface DownloadOptions {
  /** Epoch milliseconds. */
  readonly expiresAt: number;
  /** Replaces the content type of the object. */
  readonly contentType?: string;
  /** File name for `Content-Disposition: attachment`; see `attachmentDisposition`. */
  readonly attachment?: string;
}

/**
 * Stores bytes by key. The service creates the keys (`[a-z0-9/_-]`, without user input). Writes are atomic: a reader
 * sees the old object or the new one, never a part. All methods reject with `StorageUnavailable` when the store is unreachable or
 * does not answer in time.
 *
 * A store that clients can reach directly signs URLs (`signPut`, `signPost`, `signGet`). Without these methods, the
 * API serves the bytes at signed paths of its own.
 */
export interface ObjectStore {
  /** Writes an object. Rejects, and keeps the old object, if the body fails or differs from the declared size. */
  put(
    key: string,
    body: Uint8Array | AsyncIterable<Uint8Array>,
    about: { contentType: string; size?: number },
    options?: CallOptions,
  ): Promise<ObjectInfo>;
  /**
   * `range` is in bytes, both ends inclusive; an end after the last byte means the last byte. Rejects with a
   * `RangeError` if the range starts after the last byte. @returns undefined for an unknown key.
   */
  get(
    key: string,
    range?: { start: number; end: number },
    options?: CallOptions,
  ): Promise<ObjectContent | undefined>;
  head(key: string, options?: CallOptions): Promise<ObjectInfo | undefined>;
  /** Deletes an object. An unknown key is not an error. */
  remove(key: string, options?: CallOptions): Promise<void>;
  /**
   * Signs a URL for upload. The holder of the URL can write this object, once or several times, until it expires,
   * with exactly this size and type.
   */
  signPut?(options: UploadOptions): Promise<SignedUpload>;
  /** Like `signPut`, for HTML form uploads. */
  signPost?(options: UploadOptions): Promise<SignedUpload>;
  /** Signs a URL for download. @returns undefined if the store cannot sign. */
  signGet?(key: string, options: DownloadOptions): Promise<string | undefined>;
}
