import type { ExtractedText } from '@questline/core/ports';
import { readHtml } from './html.ts';
import type { ReadingLimits } from './limits.ts';
import { readPdf } from './pdf.ts';
import { readWord } from './word.ts';

export type DocumentFormat = 'pdf' | 'word' | 'html';

/** Reads one document in this process. @throws ExcessError above a limit; any other error for an invalid document. */
export async function readDocument(
  format: DocumentFormat,
  bytes: Uint8Array<ArrayBuffer>,
  limits: ReadingLimits,
): Promise<ExtractedText> {
  switch (format) {
    case 'pdf':
      return { text: await readPdf(bytes, limits) };
    case 'word':
      return { text: await readWord(bytes, limits) };
    case 'html':
      return readHtml(bytes, limits);
  }
}
