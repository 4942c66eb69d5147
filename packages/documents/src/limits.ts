import { totalmem } from 'node:os';

/** The limits of one document. Plain JSON: the host sends it to the reader. */
export interface ReadingLimits {
  /** Pages of a PDF. */
  readonly maxPages: number;
  /** Maximum unpacked bytes of all compressed parts. */
  readonly maxDecodedBytes: number;
  /** Maximum UTF-8 bytes of the text. */
  readonly maxTextBytes: number;
  /** Milliseconds. */
  readonly maxMs: number;
  /** Maximum bytes of memory of the reader, including its program. */
  readonly maxMemoryBytes: number;
}

export const MIB = 2 ** 20;

/** A limit that a document exceeded. `crash`: the reader ended for another reason. */
export type Excess = 'pages' | 'depth' | 'decoded' | 'text' | 'time' | 'memory' | 'crash';

/** The message for users about an exceeded limit. */
export function describeExcess(excess: Excess, limits: ReadingLimits): string {
  switch (excess) {
    case 'pages':
      return `it has more than ${limits.maxPages} pages`;
    case 'depth':
      return 'its parts are nested too deep';
    case 'decoded':
      return `it unpacks to more than ${formatBytes(limits.maxDecodedBytes)}`;
    case 'text':
      return `it has more than ${formatBytes(limits.maxTextBytes)} of text`;
    case 'time':
      return `it takes longer than ${limits.maxMs / 1000} s to read`;
    case 'memory':
      return `it takes more than ${formatBytes(limits.maxMemoryBytes)} of memory to read`;
    case 'crash':
      return 'it ends the process that reads it';
  }
}

function formatBytes(bytes: number): string {
  return bytes >= MIB ? `${Math.round(bytes / MIB)} MiB` : `${bytes} bytes`;
}

/** A quarter of the memory of the machine or container, between 192 and 512 MiB. */
export function getDefaultMemory(): number {
  const constrained = process.constrainedMemory();
  const total = constrained > 0 ? Math.min(constrained, totalmem()) : totalmem();
  return Math.min(512 * MIB, Math.max(192 * MIB, Math.floor(total / 4)));
}
