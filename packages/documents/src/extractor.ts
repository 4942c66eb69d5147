import type { DocumentType, ExtractedText, TextExtractor } from '@questline/core/ports';
import { getDefaultMemory, MIB, type ReadingLimits } from './limits.ts';
import { createReaderPool } from './pool.ts';
import type { DocumentFormat } from './read.ts';

export interface DocumentExtractorOptions extends Partial<ReadingLimits> {
  /** Maximum pages of a PDF. Default 2000. */
  readonly maxPages?: number;
  /** Maximum unpacked bytes of compressed parts. Default 256 MiB. */
  readonly maxDecodedBytes?: number;
  /** Maximum text, in UTF-8 bytes. Default 16 MiB. */
  readonly maxTextBytes?: number;
  /** Timeout per document. Default 60,000 ms. */
  readonly maxMs?: number;
  /**
   * Maximum memory of a reader, including its program, in bytes. Default: a quarter of the memory of
   * the machine or container, at least 192 and at most 512 MiB.
   */
  readonly maxMemoryBytes?: number;
  /** Maximum parallel readers, each a process; one owner uses at most all but one. Default 2. */
  readonly readers?: number;
}

const FORMATS: Readonly<Record<string, DocumentFormat>> = {
  'application/pdf': 'pdf',
  'application/vnd.openxmlformats-officedocument.wordprocessingml.document': 'word',
  'text/html': 'html',
  'application/xhtml+xml': 'html',
};

/** Types by file extension, for generic media types. */
const ENDINGS: Readonly<Record<string, DocumentFormat>> = {
  pdf: 'pdf',
  docx: 'word',
  html: 'html',
  htm: 'html',
};
const SAYS_NOTHING: readonly string[] = ['application/octet-stream', 'application/zip', ''];

/**
 * Extracts the text of PDF, Word (docx) and HTML files. Ignores links, scripts and images. Reads each document
 * in another process with limits on memory, unpacked bytes and time; exceeding one
 * ends the reader and rejects with an `ExtractionError` of the kind `limit`.
 */
export function createDocumentExtractor({
  maxPages = 2000,
  maxDecodedBytes = 256 * MIB,
  maxTextBytes = 16 * MIB,
  maxMs = 60_000,
  maxMemoryBytes = getDefaultMemory(),
  readers = 2,
}: DocumentExtractorOptions = {}): TextExtractor {
  const limits = { maxPages, maxDecodedBytes, maxTextBytes, maxMs, maxMemoryBytes };
  const pool = createReaderPool({ readers, limits });
  return {
    reads: (type) => findFormat(type) !== undefined,
    async extract(bytes, type, options): Promise<ExtractedText> {
      const format = findFormat(type);
      if (format === undefined) throw new TypeError(`a file of the type ${type.mimeType} is not read here`);
      options?.signal?.throwIfAborted();
      return pool.read(format, bytes, options);
    },
    close: () => pool.close(),
  };
}

function findFormat({ mimeType, name }: DocumentType): DocumentFormat | undefined {
  if (!SAYS_NOTHING.includes(mimeType))
    return Object.hasOwn(FORMATS, mimeType) ? FORMATS[mimeType] : undefined;
  const ending = name.split('.').at(-1)?.toLowerCase() ?? '';
  return Object.hasOwn(ENDINGS, ending) ? ENDINGS[ending] : undefined;
}
