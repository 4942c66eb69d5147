import type { CallOptions } from './options.ts';

export interface ExtractedText {
  readonly text: string;
  /** What the document says it is about. */
  readonly tags?: readonly string[];
}

export interface DocumentType {
  /** Type and subtype, lower case. */
  readonly mimeType: string;
  /** Of the file, for types that say nothing. */
  readonly name: string;
}

/**
 * Reads the text of files of some formats. The files are strangers' work: reading one must be bounded in time and memory,
 * follow no link in it and run nothing of it.
 */
export interface TextExtractor {
  reads(type: DocumentType): boolean;
  /** The same bytes give the same text. Rejects when the file is not what it says it is. */
  extract(bytes: Uint8Array, type: DocumentType, options?: CallOptions): Promise<ExtractedText>;
}
