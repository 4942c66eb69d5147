import type { Excess, ReadingLimits } from './limits.ts';

/** A document exceeds a limit that its parser checks. */
export class ExcessError extends Error {
  override readonly name = 'ExcessError';
  readonly excess: Excess;
  constructor(excess: Excess) {
    super(`a document exceeds its limit: ${excess}`);
    this.excess = excess;
  }
}

/** Collects text up to a limit of UTF-8 bytes, in a byte buffer: millions of short strings need many times their size. */
export interface TextCollector {
  /** @throws ExcessError above the limit. */
  add(text: string): void;
  /** The collected text. */
  join(): string;
}

const FIRST_BYTES = 65_536;

export function createTextCollector({ maxTextBytes }: Pick<ReadingLimits, 'maxTextBytes'>): TextCollector {
  let bytes = Buffer.alloc(FIRST_BYTES);
  let size = 0;
  return {
    add(text) {
      const more = Buffer.byteLength(text);
      if (size + more > maxTextBytes) throw new ExcessError('text');
      if (size + more > bytes.length) {
        const larger = Buffer.alloc(Math.max(bytes.length * 2, size + more));
        bytes.copy(larger, 0, 0, size);
        bytes = larger;
      }
      size += bytes.write(text, size);
    },
    join: () => bytes.toString('utf8', 0, size),
  };
}

/** Limits the nesting of elements. The time of parsers grows with its square. */
const MAX_DEPTH = 10_000;

export interface DepthCounter {
  /** @throws ExcessError above the limit. */
  open(): void;
  close(): void;
}

export function createDepthCounter(): DepthCounter {
  let depth = 0;
  return {
    open() {
      depth += 1;
      if (depth > MAX_DEPTH) throw new ExcessError('depth');
    },
    close() {
      depth -= 1;
    },
  };
}
