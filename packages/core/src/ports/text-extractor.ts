import type { CallOptions } from './options.ts';

/** The text of a document. */
export interface ExtractedText {
  readonly text: string;
  /** Keywords from the document's metadata. */
  readonly tags?: readonly string[];
}

/** The declared type of a document. */
export interface DocumentType {
  /** Type and subtype, lower case. */
  readonly mimeType: string;
  /** The file name, for types that are not specific. */
  readonly name: string;
}

/** Options of one extraction. */
export interface ExtractOptions extends CallOptions {
  /**
   * Fairness key: any string that is constant per user. Documents of one owner are read one after the other;
   * different owners are served in turn. Documents without an owner share one key.
   */
  readonly owner?: string;
}

/**
 * `unreadable`: the file is damaged or does not match its type. `limit`: the document exceeds a limit on time, memory
 * or text; the message names the limit for users, as a continuation of "…: ". `unavailable`: a temporary failure that
 * does not depend on the document; retry.
 */
export type ExtractionErrorKind = 'unreadable' | 'limit' | 'unavailable';

/** The failure of an extraction, by its kind. */
export class ExtractionError extends Error {
  override readonly name = 'ExtractionError';
  readonly kind: ExtractionErrorKind;
  constructor(kind: ExtractionErrorKind, message: string, options: { readonly cause?: unknown } = {}) {
    super(message, options);
    this.kind = kind;
  }
}

/** Compares the name, not the class: the ESM and CommonJS builds of this module may both be loaded. */
export function isExtractionError(error: unknown): error is ExtractionError {
  return error instanceof Error && error.name === 'ExtractionError' && 'kind' in error;
}

/**
 * Extracts text from files of some formats. The files are untrusted. An extractor follows no links, executes no
 * content, and limits time, memory and text per document. Run it in a separate process, because only a process can be
 * killed. When a limit is exceeded it rejects with an `ExtractionError` of kind `limit` and stays usable.
 *
 * The service guarantees for the `extractors` of its ports: one call at a time per owner, with at least one slot reserved
 * for other owners; a timeout, after which it aborts the signal and abandons the call; and, for stored files, an attempt counter in the
 * file's record: after three attempts that crashed the extractor or the process, the document is not read again. The
 * service cannot limit the memory of an extractor that runs in its own process. A model moderator passes its `extractors`
 * the owner and no timeout.
 */
export interface TextExtractor {
  reads(type: DocumentType): boolean;
  /**
   * Deterministic: the same bytes give the same text. The extractor must not modify `bytes`; the caller keeps them
   * unchanged until the call settles. Calls may be concurrent. Rejects with the signal's reason soon after an abort.
   * Any error other than an `ExtractionError` means that the file does not match its type.
   */
  extract(bytes: Uint8Array, type: DocumentType, options?: ExtractOptions): Promise<ExtractedText>;
  /** Releases idle resources. Running calls complete, and a later call starts the extractor again. */
  close?(): Promise<void>;
}
