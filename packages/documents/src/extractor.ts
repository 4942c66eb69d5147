import type { DocumentType, ExtractedText, TextExtractor } from '@questline/core';
import { textOfHtml } from './html.ts';
import { textOfPdf } from './pdf.ts';
import { textOfWord } from './word.ts';

export interface DocumentExtractorOptions {
  /** A PDF of more pages is refused. Default 2000. */
  readonly mostPages?: number;
  /** A Word file that unpacks to more bytes is refused. Default 100 MiB. */
  readonly mostUnpackedBytes?: number;
}

const PDF = 'application/pdf';
const WORD = 'application/vnd.openxmlformats-officedocument.wordprocessingml.document';
const HTML: readonly string[] = ['text/html', 'application/xhtml+xml'];

/** By the name's end, for types that say nothing. */
const ENDINGS: Readonly<Record<string, string>> = {
  pdf: PDF,
  docx: WORD,
  html: 'text/html',
  htm: 'text/html',
};
const SAYS_NOTHING: readonly string[] = ['application/octet-stream', 'application/zip', ''];

/** The text of PDF, Word (docx) and HTML files. No link in them is followed, no script run, no picture looked at. */
export function createDocumentExtractor({
  mostPages = 2000,
  mostUnpackedBytes = 100 * 2 ** 20,
}: DocumentExtractorOptions = {}): TextExtractor {
  return {
    reads: (type) => {
      const format = formatOf(type);
      return format === PDF || format === WORD || HTML.includes(format);
    },
    async extract(bytes, type, options): Promise<ExtractedText> {
      options?.signal?.throwIfAborted();
      const format = formatOf(type);
      if (format === PDF) return { text: await textOfPdf(bytes, mostPages, options?.signal) };
      if (format === WORD) return { text: await textOfWord(bytes, mostUnpackedBytes) };
      if (HTML.includes(format)) return textOfHtml(bytes);
      throw new TypeError(`a file of the type ${format} is not read here`);
    },
  };
}

function formatOf({ mimeType, name }: DocumentType): string {
  if (!SAYS_NOTHING.includes(mimeType)) return mimeType;
  return ENDINGS[name.split('.').at(-1)?.toLowerCase() ?? ''] ?? mimeType;
}
