import { type ModelContent, ProviderError } from '@questline/core/ports';

type Document = Extract<ModelContent, { type: 'document' }>;

/** The text of a text document. Undefined for other types, e.g. a PDF. */
export function documentText(document: Document): string | undefined {
  const type = document.mediaType.split(';', 1)[0]?.trim().toLowerCase() ?? '';
  const textual = type.startsWith('text/') || type === 'application/json' || type === 'application/xml';
  return textual ? Buffer.from(document.data, 'base64').toString('utf8') : undefined;
}

/** A text document as a text part, for protocols without documents. */
export function titled(document: Document, text: string): string {
  return `${document.name}:\n\n${text}`;
}

/** Unsupported content is an error: without it, the model would answer a different question. */
export function unsupported(provider: string, what: string): ProviderError {
  return new ProviderError('invalid_request', `${provider}: cannot take ${what}`);
}
