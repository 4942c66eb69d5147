import { type ModelContent, ProviderError } from '@questline/core';

type Document = Extract<ModelContent, { type: 'document' }>;

/** The text of a document that is text. Undefined for anything else, e.g. a PDF. */
export function documentText(document: Document): string | undefined {
  const type = document.mediaType.split(';', 1)[0]?.trim().toLowerCase() ?? '';
  const textual = type.startsWith('text/') || type === 'application/json' || type === 'application/xml';
  return textual ? Buffer.from(document.data, 'base64').toString('utf8') : undefined;
}

/** A textual document as a piece of prose, for protocols that know no documents. */
export function titled(document: Document, text: string): string {
  return `${document.name}:\n\n${text}`;
}

/** Content a protocol has no place for must fail: a model that never saw it would answer all the same. */
export function unsupported(provider: string, what: string): ProviderError {
  return new ProviderError('invalid_request', `${provider}: cannot take ${what}`);
}
