import type { ObjectContent, ObjectStore } from '@questline/core/ports';
import type { Case, Subject } from '../suite.ts';

export interface SignedRequest {
  readonly method: 'GET' | 'PUT' | 'POST';
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: Uint8Array | FormData;
}

export interface SignedAnswer {
  readonly status: number;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array;
}

export interface ObjectsSubject extends Subject {
  readonly objects: ObjectStore;
  /** Sends a request to a signed link, like a browser. Absent: the store cannot sign. */
  send?(request: SignedRequest): Promise<SignedAnswer>;
}

export type ObjectsCase = Case<ObjectsSubject>;

export const about = { contentType: 'application/octet-stream' };

/** Bytes that differ from their neighbours, to detect shifts. */
export function toBytes(length: number, start = 0): Uint8Array {
  return Uint8Array.from({ length }, (_, at) => (start + at * 7 + (at >> 8)) % 256);
}

export async function readContent(content: ObjectContent | undefined): Promise<Uint8Array | undefined> {
  if (content === undefined) return undefined;
  const parts: Uint8Array[] = [];
  for await (const part of content.body) parts.push(part);
  return Uint8Array.from(Buffer.concat(parts));
}

export async function read(objects: ObjectStore, key: string): Promise<Uint8Array | undefined> {
  return readContent(await objects.get(key));
}

/** A body in chunks. */
export async function* getPieces(bytes: Uint8Array, size: number): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.slice(at, at + size);
}
