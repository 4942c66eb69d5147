import { createOwnerTurns } from '@questline/core/internal';
import type { ExtractedText, ExtractOptions } from '@questline/core/ports';
import { createReaderStarter, type ReaderProcess } from './child.ts';
import type { ReadingLimits } from './limits.ts';
import type { DocumentFormat } from './read.ts';

export interface ReaderPool {
  read(format: DocumentFormat, bytes: Uint8Array, options?: ExtractOptions): Promise<ExtractedText>;
  /** Ends idle readers at once and busy ones after their document. Resolves when all have ended. */
  close(): Promise<void>;
}

/** Idle time in milliseconds after which a reader ends. */
const IDLE_MS = 60_000;

/**
 * A pool of readers. They start on demand and are reused; one that a document has ended, or left
 * with little memory, is replaced. While an owner's documents are read, one reader stays free for those of others.
 */
export function createReaderPool(options: {
  readonly readers: number;
  readonly limits: ReadingLimits;
}): ReaderPool {
  const { readers, limits } = options;
  const starter = createReaderStarter(limits);
  const turns = createOwnerTurns({ slots: readers });
  const idle = new Map<ReaderProcess, NodeJS.Timeout>();
  /** Documents that are being read, by owner. */
  const busy = new Set<Promise<unknown>>();
  let closings = 0;

  const takeIdle = (): ReaderProcess | undefined => {
    // The most recently used one, so that the others can end.
    for (const [reader, timer] of [...idle].reverse()) {
      clearTimeout(timer);
      idle.delete(reader);
      if (reader.isReusable) return reader;
    }
    return undefined;
  };

  const keep = async (reader: ReaderProcess, closed: number): Promise<void> => {
    if (!reader.isReusable || closed !== closings) return reader.end();
    const timer = setTimeout(() => {
      idle.delete(reader);
      void reader.end();
    }, IDLE_MS).unref();
    idle.set(reader, timer);
  };

  const readOne = async (
    format: DocumentFormat,
    bytes: Uint8Array,
    { owner = '', signal }: ExtractOptions,
  ): Promise<ExtractedText> => {
    const release = await turns.take(owner, { signal });
    const closed = closings;
    try {
      const reader = takeIdle() ?? (await starter.start());
      try {
        return await reader.read(format, bytes, signal);
      } finally {
        // Synchronously, so that there are never more processes than the maximum.
        await keep(reader, closed);
      }
    } finally {
      release();
    }
  };

  return {
    read(format, bytes, options = {}) {
      const work = readOne(format, bytes, options);
      const ended = work.then(
        () => undefined,
        () => undefined,
      );
      busy.add(ended);
      void ended.then(() => busy.delete(ended));
      return work;
    },
    async close() {
      closings += 1;
      const ends = [...idle].map(([reader, timer]) => {
        clearTimeout(timer);
        return reader.end();
      });
      idle.clear();
      await Promise.all([...ends, ...busy]);
    },
  };
}
