import type { Clock } from '../../ports/clock.ts';
import type { CallOptions } from '../../ports/options.ts';
import type { Store } from '../../ports/store.ts';
import {
  type DocumentType,
  type ExtractedText,
  ExtractionError,
  isExtractionError,
  type TextExtractor,
} from '../../ports/text-extractor.ts';
import { withTimeout } from '../../shared/timeouts.ts';
import { createOwnerTurns, type OwnerTurns } from './owner-turns.ts';
import { FILES, type FileRecord } from './records.ts';

/** Settings for the extraction of text. */
export interface DocumentSettings {
  /** Maximum concurrent extractions in this process; one owner uses at most all but one. Default 2. */
  readonly maxConcurrent: number;
  /** Timeout of one extraction, milliseconds. Default 90,000. */
  readonly timeoutMs: number;
}

export const DEFAULT_DOCUMENT_SETTINGS: DocumentSettings = { maxConcurrent: 2, timeoutMs: 90_000 };

/** Maximum attempts that hit a limit or ended with the process. */
export const MAX_READ_ATTEMPTS = 3;

/**
 * Outcome of an extraction. `gone`: the bytes are deleted, or exceed the limit. `unsupported`: no extractor reads the type.
 * `busy`: no slot is free for the owner. `refused`: extraction exceeds a limit; `reason` is for users. `unreadable`: the
 * document is broken. `unavailable`: a temporary failure.
 */
export type ReadOutcome =
  | ({ readonly status: 'read' } & ExtractedText)
  | { readonly status: 'gone' | 'unsupported' | 'busy' }
  | { readonly status: 'refused'; readonly reason: string; readonly cause?: unknown }
  | { readonly status: 'unreadable' | 'unavailable'; readonly cause: unknown };

export interface ReadDocumentOptions extends CallOptions {
  /** The user who requests the text and occupies the slot; not necessarily the owner of the file. */
  readonly owner: string;
  /** False: returns `busy` instead of waiting for a slot. Default true. */
  readonly waits?: boolean;
}

/** Extracts the text of files with all extractors, under one set of limits. */
export interface DocumentReader {
  /**
   * Extracts one file. Rejects only with the signal's reason, or when the store is unavailable.
   * @param load reads the bytes; called when the document has a slot, so that few documents are in memory at a time.
   */
  read(
    file: FileRecord,
    load: (options: CallOptions) => Promise<Uint8Array | undefined>,
    options: ReadDocumentOptions,
  ): Promise<ReadOutcome>;
  /** Extracts the text of bytes that are in no file: without a count of attempts. Rejects only with the signal's reason. */
  readBytes(bytes: Uint8Array, type: DocumentType, options: ReadDocumentOptions): Promise<ReadOutcome>;
}

/**
 * @param services.extractors the first one that supports a type is used.
 * @param services.plainText only decodes, and needs no count of attempts. It has slots of its own, so that a short
 * text does not wait for a large document.
 */
export function createDocumentReader(services: {
  readonly store: Store;
  readonly clock: Clock;
  readonly extractors: readonly TextExtractor[];
  readonly plainText: TextExtractor;
  readonly settings: DocumentSettings;
}): DocumentReader {
  const { store, clock, extractors, plainText, settings } = services;
  const files = store.collection(FILES);
  const turns = createOwnerTurns({ slots: settings.maxConcurrent });
  const plainTurns = createOwnerTurns({ slots: settings.maxConcurrent });

  /** Counts the attempt before extraction: a process that crashes cannot count. @returns false for a deleted file. */
  const beginAttempt = async ({ id }: FileRecord): Promise<boolean> =>
    (await files.add(id, { readAttempts: 1 })) !== undefined;

  const endAttempt = async ({ id }: FileRecord, outcome: ReadOutcome | undefined): Promise<void> => {
    if (outcome?.status === 'refused') await files.update(id, { readRefusal: outcome.reason });
    else if (outcome === undefined || outcome.status === 'unavailable')
      await files.add(id, { readAttempts: -1 }, { readAttempts: { gt: 0 } });
    else await files.update(id, { readAttempts: undefined, readRefusal: undefined });
  };

  const extract = async (
    extractor: TextExtractor,
    bytes: Uint8Array,
    type: DocumentType,
    { owner, signal }: ReadDocumentOptions,
  ): Promise<ReadOutcome> => {
    const { timeoutMs } = settings;
    const tooLong = () => new ExtractionError('limit', `it takes longer than ${timeoutMs / 1000} s to read`);
    try {
      const { text, tags } = await withTimeout(clock, timeoutMs, tooLong, signal, (own) =>
        extractor.extract(bytes, type, { owner, signal: own }),
      );
      return { status: 'read', text, ...(tags !== undefined && { tags }) };
    } catch (error) {
      signal?.throwIfAborted();
      return describeFailure(error);
    }
  };

  const readCounted: typeof readNow = async (extractor, file, load, options) => {
    if ((file.readAttempts ?? 0) >= MAX_READ_ATTEMPTS) return refuseAgain(file);
    if (!(await beginAttempt(file))) return { status: 'gone' };
    let outcome: ReadOutcome | undefined;
    try {
      outcome = await readNow(extractor, file, load, options);
      return outcome;
    } finally {
      await endAttempt(file, outcome);
    }
  };

  const readNow = async (
    extractor: TextExtractor,
    { mimeType, name }: FileRecord,
    load: (options: CallOptions) => Promise<Uint8Array | undefined>,
    options: ReadDocumentOptions,
  ): Promise<ReadOutcome> => {
    const bytes = await load({ ...(options.signal !== undefined && { signal: options.signal }) });
    return bytes === undefined ? { status: 'gone' } : extract(extractor, bytes, { mimeType, name }, options);
  };

  return {
    async read(file, load, options) {
      const extractor = extractors.find((one) => one.reads({ mimeType: file.mimeType, name: file.name }));
      if (extractor === undefined) return { status: 'unsupported' };
      const isPlain = extractor === plainText;
      // Plain text takes less than a second: waiting is cheaper than rescheduling.
      const release = isPlain
        ? await plainTurns.take(options.owner, options)
        : await takeTurn(turns, options);
      if (release === undefined) return { status: 'busy' };
      try {
        // After a long wait, other attempts may have reached the maximum.
        const current = isPlain ? file : await files.get(file.id);
        if (current === undefined) return { status: 'gone' };
        return await (isPlain ? readNow : readCounted)(extractor, current, load, options);
      } finally {
        release();
      }
    },

    async readBytes(bytes, type, options) {
      const extractor = extractors.find((one) => one.reads(type));
      if (extractor === undefined) return { status: 'unsupported' };
      const release = await takeTurn(extractor === plainText ? plainTurns : turns, options);
      if (release === undefined) return { status: 'busy' };
      try {
        return await extract(extractor, bytes, type, options);
      } finally {
        release();
      }
    },
  };
}

async function takeTurn(
  turns: OwnerTurns,
  { owner, signal, waits = true }: ReadDocumentOptions,
): Promise<(() => void) | undefined> {
  return waits ? turns.take(owner, { signal }) : turns.tryTake(owner);
}

function describeFailure(error: unknown): ReadOutcome {
  if (!isExtractionError(error)) return { status: 'unreadable', cause: error };
  if (error.kind === 'limit') return { status: 'refused', reason: error.message, cause: error };
  return { status: error.kind === 'unavailable' ? 'unavailable' : 'unreadable', cause: error };
}

function refuseAgain({ readRefusal }: FileRecord): ReadOutcome {
  const reason = readRefusal ?? `reading it was begun ${MAX_READ_ATTEMPTS} times and never ended`;
  return { status: 'refused', reason };
}
