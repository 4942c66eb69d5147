import { createOwnerTurns } from '@questline/core/internal';
import {
  type DocumentType,
  type ExtractOptions,
  isExtractionError,
  type TextExtractor,
  WebToolError,
} from '@questline/core/ports';
import type { Dispatcher } from 'undici';
import { readWhole } from './body.ts';

const MAX_BYTES = 20 * 2 ** 20;
/** Documents in memory at a time. */
const SLOTS = 8;

interface PageDocument {
  readonly url: URL;
  readonly mimeType: string;
  readonly answer: Dispatcher.ResponseData;
}

/** Reads the text of a document with the extractor of its media type, or of the name in its address. Owners take turns. */
export function createDocumentReader(extractors: readonly TextExtractor[]) {
  const turns = createOwnerTurns({ slots: SLOTS });
  /**
   * @param signal also ends the wait and the transfer.
   * @throws WebToolError
   */
  return async (
    { url, mimeType, answer }: PageDocument,
    signal: AbortSignal,
    options: ExtractOptions,
  ): Promise<string> => {
    const type = { mimeType, name: url.pathname.split('/').at(-1) ?? '' };
    const extractor = extractors.find((one) => one.reads(type));
    if (extractor === undefined) {
      throw new WebToolError('INVALID_INPUT', 'url: this is not a page that can be read as text.');
    }
    const release = await turns.take(options.owner ?? '', { signal });
    try {
      return await extract(extractor, await readWhole(answer, MAX_BYTES), type, options);
    } finally {
      release();
    }
  };
}

async function extract(
  extractor: TextExtractor,
  bytes: Uint8Array,
  type: DocumentType,
  options: ExtractOptions,
): Promise<string> {
  try {
    return (await extractor.extract(bytes, type, options)).text;
  } catch (error) {
    options.signal?.throwIfAborted();
    throw toWebToolError(error);
  }
}

/** An error that is no `ExtractionError` means that the document does not match its type. */
function toWebToolError(error: unknown): WebToolError {
  if (!isExtractionError(error) || error.kind === 'unreadable') {
    const message = 'url: the document is damaged, or of another type.';
    return new WebToolError('INVALID_INPUT', message, { cause: error });
  }
  if (error.kind === 'limit') {
    return new WebToolError('INVALID_INPUT', `url: the document is not read: ${error.message}.`, {
      cause: error,
    });
  }
  return new WebToolError('EXTERNAL_API_ERROR', 'The document cannot be read now.', { cause: error });
}
