import type { Excess } from './limits.ts';
import type { DocumentFormat } from './read.ts';

/*
 * Messages between the host and a reader: four bytes with the length of the head, the head in JSON, and `size` bytes of
 * the document or of its text.
 */

export interface Task {
  readonly format: DocumentFormat;
  readonly size: number;
}

export type Answer =
  /** The reader has started. */
  | { readonly ready: true; readonly size: 0 }
  /** @see ReaderProcess. `rss`: bytes of memory that the reader has now. */
  | { readonly tags: readonly string[] | null; readonly rss: number; readonly size: number }
  | { readonly excess: Excess; readonly size: 0 }
  | { readonly broken: string; readonly size: 0 };

const PREFIX_BYTES = 4;
const MAX_HEAD_BYTES = 65_536;

export function encodeHead(head: Task | Answer): Buffer {
  const json = Buffer.from(JSON.stringify(head));
  const prefix = Buffer.alloc(PREFIX_BYTES);
  prefix.writeUInt32BE(json.length);
  return Buffer.concat([prefix, json]);
}

/** Adds received bytes. @returns the completed messages. */
export type FrameParser<H> = (chunk: Buffer) => readonly { readonly head: H; readonly body: Buffer }[];

/** @param maxBody bytes. The parser throws a RangeError for a longer head or body. */
export function createFrameParser<H extends { readonly size: number }>(maxBody: number): FrameParser<H> {
  let pending: Buffer = Buffer.alloc(0);
  let begun: { readonly head: H; readonly body: Buffer; filled: number } | undefined;

  const readHead = (): H | undefined => {
    if (pending.length < PREFIX_BYTES) return undefined;
    const length = pending.readUInt32BE();
    if (length > MAX_HEAD_BYTES) throw new RangeError('a message with a head that is too long');
    if (pending.length < PREFIX_BYTES + length) return undefined;
    const parsed = JSON.parse(pending.toString('utf8', PREFIX_BYTES, PREFIX_BYTES + length)) as H;
    if (!(parsed.size <= maxBody)) throw new RangeError('a message that is too long');
    pending = pending.subarray(PREFIX_BYTES + length);
    return parsed;
  };

  return (chunk) => {
    const messages: { head: H; body: Buffer }[] = [];
    pending = pending.length === 0 ? chunk : Buffer.concat([pending, chunk]);
    for (;;) {
      if (begun === undefined) {
        const head = readHead();
        if (head === undefined) return messages;
        begun = { head, body: Buffer.alloc(head.size), filled: 0 };
      }
      const { head, body } = begun;
      const taken = pending.copy(body, begun.filled);
      begun.filled += taken;
      pending = pending.subarray(taken);
      if (begun.filled < head.size) return messages;
      messages.push({ head, body });
      begun = undefined;
    }
  };
}
