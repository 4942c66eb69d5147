import type { DocumentType, ExtractedText, TextExtractor } from '@questline/core';
import type { Reading } from './reading.ts';
import { createReadingThread } from './thread.ts';

export interface DocumentExtractorOptions {
  /** A PDF of more pages is refused. Default 2000. */
  readonly mostPages?: number;
  /** A Word file that unpacks to more bytes is refused. Default 100 MiB. */
  readonly mostUnpackedBytes?: number;
  /** A document that takes longer to read is given up. Default 120,000 ms. */
  readonly mostMs?: number;
  /** A document that takes more memory to read is given up. Default 1024 MiB. */
  readonly mostMemory?: number;
}

const FORMATS: Readonly<Record<string, Reading['format']>> = {
  'application/pdf': 'pdf',
  'application/vnd.openxmlformats-officedocument.wordprocessingml.document': 'word',
  'text/html': 'html',
  'application/xhtml+xml': 'html',
};

/** By the name's end, for types that say nothing. */
const ENDINGS: Readonly<Record<string, Reading['format']>> = {
  pdf: 'pdf',
  docx: 'word',
  html: 'html',
  htm: 'html',
};
const SAYS_NOTHING: readonly string[] = ['application/octet-stream', 'application/zip', ''];

/**
 * The text of PDF, Word (docx) and HTML files. No link in them is followed, no script run, no picture looked at. They are
 * read in a thread of their own, one after the other: a large one holds up nothing but those behind it.
 */
export function createDocumentExtractor({
  mostPages = 2000,
  mostUnpackedBytes = 100 * 2 ** 20,
  mostMs = 120_000,
  mostMemory = 1024,
}: DocumentExtractorOptions = {}): TextExtractor {
  const read = createReadingThread({ mostMs, mostMemory });
  return {
    reads: (type) => formatOf(type) !== undefined,
    async extract(bytes, type, options): Promise<ExtractedText> {
      const format = formatOf(type);
      if (format === undefined) throw new TypeError(`a file of the type ${type.mimeType} is not read here`);
      options?.signal?.throwIfAborted();
      // The thread takes the bytes over, so it gets a copy.
      return read({ format, bytes: new Uint8Array(bytes), mostPages, mostUnpackedBytes }, options?.signal);
    },
  };
}

function formatOf({ mimeType, name }: DocumentType): Reading['format'] | undefined {
  if (!SAYS_NOTHING.includes(mimeType))
    return Object.hasOwn(FORMATS, mimeType) ? FORMATS[mimeType] : undefined;
  const ending = name.split('.').at(-1)?.toLowerCase() ?? '';
  return Object.hasOwn(ENDINGS, ending) ? ENDINGS[ending] : undefined;
}
