import type { ModelContent, ModelInfo } from '../../ports/models.ts';
import type { CallOptions } from '../../ports/options.ts';
import type { Incident } from '../../shared/incident.ts';
import type { DocumentReader, ReadOutcome } from './documents.ts';
import { decodeText, isTextFile } from './text-files.ts';

type Document = Extract<ModelContent, { type: 'document' }>;

/** A document inside of a request. */
export interface SentDocument {
  /** Type and subtype, and parameters such as the `charset` of a text. */
  readonly contentType: string;
  /** Base64. */
  readonly data: string;
  readonly name: string;
}

/** The content, or the reason for users why there is none: a sentence. */
export type ConvertedDocument =
  | { readonly content: ModelContent; readonly refusal?: undefined }
  | { readonly content?: undefined; readonly refusal: string };

/**
 * Converts a document for a model: text to UTF-8, and a document that the model does not read itself to its text. A document that no
 * extractor reads stays as it is.
 */
export type ConvertDocument = (
  userId: string,
  document: SentDocument,
  model: ModelInfo,
  options?: CallOptions,
) => Promise<ConvertedDocument>;

/** Vendors read PDF files, and no other documents. */
const NATIVE = 'application/pdf';

export function createDocumentConverter(services: {
  readonly documents: DocumentReader;
  readonly onError: (incident: Incident) => void;
}): ConvertDocument {
  return async (userId, { contentType, data, name }, { inputModalities }, options = {}) => {
    const mediaType = contentType.split(';', 1)[0]?.trim().toLowerCase() ?? '';
    const unchanged: Document = { type: 'document', mediaType, name, data };
    const type = { mimeType: mediaType, name };
    const readsItself = inputModalities?.includes('document') ?? true;
    if (mediaType === NATIVE && readsItself) return { content: unchanged };
    const bytes = Buffer.from(data, 'base64');
    if (mediaType.startsWith('text/') || isTextFile(type)) {
      const text = decodeNamed(bytes, contentType) ?? decodeText(bytes, type);
      return { content: text === undefined ? unchanged : toTextDocument(name, text) };
    }
    const outcome = await services.documents.readBytes(bytes, type, { ...options, owner: userId });
    if ('cause' in outcome) {
      services.onError({ operation: 'files.extract', requestId: '', error: outcome.cause });
    }
    if (outcome.status === 'unsupported') return { content: unchanged };
    if (outcome.status === 'read') {
      if (outcome.text.trim() === '') return { refusal: `${name} has no text.` };
      return { content: toTextDocument(name, outcome.text) };
    }
    return { refusal: `${name} could not be read: ${describe(outcome)}.` };
  };
}

export function toTextDocument(name: string, text: string): Document {
  return { type: 'document', mediaType: 'text/plain', name, data: Buffer.from(text).toString('base64') };
}

/** Decodes text in the encoding that its sender names. @returns undefined without a known one. */
function decodeNamed(bytes: Uint8Array, contentType: string): string | undefined {
  const [, charset] = /;\s*charset\s*=\s*"?([^\s;"]+)/i.exec(contentType) ?? [];
  if (charset === undefined) return undefined;
  try {
    return new TextDecoder(charset).decode(bytes);
  } catch {
    return undefined;
  }
}

function describe(outcome: ReadOutcome): string {
  if (outcome.status === 'refused') return outcome.reason;
  return outcome.status === 'unreadable'
    ? 'the document is damaged, or of another type'
    : 'try again shortly';
}
