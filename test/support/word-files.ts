import type { ModelContent, TextExtractor } from '@questline/core/ports';

export const WORD_TYPE = 'application/vnd.openxmlformats-officedocument.wordprocessingml.document';

/** Reads "Word files" of plain bytes, but for the broken one. */
export const wordExtractor: TextExtractor = {
  reads: ({ mimeType }) => mimeType === WORD_TYPE,
  async extract(bytes) {
    const text = Buffer.from(bytes).toString();
    if (text === 'broken') throw new Error('no archive');
    return { text: `Text: ${text}` };
  },
};

/** @param bytes written in latin1. */
export function toDataUrl(type: string, bytes: string): string {
  return `data:${type};base64,${Buffer.from(bytes, 'latin1').toString('base64')}`;
}

export function toTextDocument(name: string, text: string): ModelContent {
  return { type: 'document', mediaType: 'text/plain', name, data: Buffer.from(text).toString('base64') };
}
