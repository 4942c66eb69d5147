import type { ExtractedText } from '@questline/core';
import { textOfHtml } from './html.ts';
import { textOfPdf } from './pdf.ts';
import { textOfWord } from './word.ts';

/** A document as it is handed to whoever reads it. Can be sent to another thread. */
export interface Reading {
  readonly format: 'pdf' | 'word' | 'html';
  /** Nobody else uses them. */
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly mostPages: number;
  readonly mostUnpackedBytes: number;
}

/** What has become of it: what was read, or why it was not. */
export type Outcome = { readonly read: ExtractedText } | { readonly refused: string };

export async function read({ format, bytes, mostPages, mostUnpackedBytes }: Reading): Promise<ExtractedText> {
  switch (format) {
    case 'pdf':
      return { text: await textOfPdf(bytes, mostPages) };
    case 'word':
      return { text: await textOfWord(bytes, mostUnpackedBytes) };
    case 'html':
      return textOfHtml(bytes);
  }
}
