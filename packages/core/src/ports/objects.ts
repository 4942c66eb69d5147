import type { CallOptions } from './options.ts';

export interface ObjectInfo {
  readonly key: string;
  readonly size: number;
  readonly contentType: string;
  /** Changes whenever the bytes change. */
  readonly etag: string;
}

export interface ObjectContent extends ObjectInfo {
  /** The bytes asked for. Must be read or returned; leaving it open may hold a connection. */
  readonly body: AsyncIterable<Uint8Array>;
}

export interface SignedUpload {
  readonly url: string;
  /** Headers (PUT) that the uploader must send, or form fields (POST) that must precede the `file` part. */
  readonly fields: Readonly<Record<string, string>>;
  readonly expiresAt: number;
}

export interface UploadTerms {
  readonly key: string;
  readonly contentType: string;
  /** Exact size in bytes. */
  readonly size: number;
  /** Epoch milliseconds. */
  readonly expiresAt: number;
}

export interface DownloadTerms {
  /** Epoch milliseconds. */
  readonly expiresAt: number;
  /** In place of the object's own. */
  readonly contentType?: string;
  /** Makes browsers save the bytes under this name: see `attachmentDisposition`. */
  readonly attachment?: string;
}

/**
 * Bytes by key. Keys are ours (`[a-z0-9/_-]`, no names of users in them). Writes are all or nothing: a reader sees the
 * old object or the new one, never a part.
 *
 * A store that others can reach signs links to itself. For one that lacks the three verbs for that, the api serves the
 * bytes at signed paths of its own.
 */
export interface ObjectStore {
  /** Rejects, the old object untouched, when the body fails or is not of the announced size. */
  put(
    key: string,
    body: Uint8Array | AsyncIterable<Uint8Array>,
    about: { contentType: string; size?: number },
    options?: CallOptions,
  ): Promise<ObjectInfo>;
  /**
   * `range` counts bytes, both ends inclusive; an end behind the object is its last byte.
   * Rejects with a `RangeError` when it starts behind the object. @returns undefined for an unknown key.
   */
  get(
    key: string,
    range?: { start: number; end: number },
    options?: CallOptions,
  ): Promise<ObjectContent | undefined>;
  head(key: string, options?: CallOptions): Promise<ObjectInfo | undefined>;
  /** Removing an unknown key is no error. */
  remove(key: string, options?: CallOptions): Promise<void>;
  /** Whoever has the link can write this object, once or several times, until it ends: with exactly this size and type. */
  signPut?(terms: UploadTerms): Promise<SignedUpload>;
  /** As `signPut`, for forms. */
  signPost?(terms: UploadTerms): Promise<SignedUpload>;
  /** @returns undefined when the store cannot sign. */
  signGet?(key: string, terms: DownloadTerms): Promise<string | undefined>;
}
