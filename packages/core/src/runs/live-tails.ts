import type { Store } from '../ports/store.ts';
import { type LiveTail, type LiveTailServices, startLiveTail } from './live-tail.ts';
import { QUESTS } from './records.ts';
import { hasEnded } from './transitions.ts';

/** The streams that readers of this process follow: one tail per stream, for any number of readers. */
export interface LiveTails {
  /** @returns the tail of a quest, and a function to call once when its reader has left. */
  open(questId: string): { readonly tail: LiveTail; close(): void };
  /** Registers a reader that a shutdown stops. @returns a function that unregisters. */
  add(stop: () => void): () => void;
  /** Stops all readers of this process; they continue at another one. */
  dismiss(): void;
}

export function createLiveTails(services: LiveTailServices & { readonly store: Store }): LiveTails {
  const quests = services.store.collection(QUESTS);
  const tails = new Map<string, { readonly tail: ReturnType<typeof startLiveTail>; readers: number }>();
  const readers = new Set<() => void>();

  const isEnded = async (questId: string): Promise<boolean> => {
    const quest = await quests.get(questId);
    return quest === undefined || hasEnded(quest);
  };

  return {
    open(questId) {
      let entry = tails.get(questId);
      // An ended tail looks no more.
      if (entry === undefined || entry.tail.isOver) {
        entry = { tail: startLiveTail(services, questId, () => isEnded(questId)), readers: 0 };
        tails.set(questId, entry);
      }
      const opened = entry;
      opened.readers += 1;
      return {
        tail: opened.tail,
        close() {
          opened.readers -= 1;
          if (opened.readers > 0) return;
          opened.tail.stop();
          if (tails.get(questId) === opened) tails.delete(questId);
        },
      };
    },
    add(stop) {
      readers.add(stop);
      return () => {
        readers.delete(stop);
      };
    },
    dismiss() {
      for (const stop of [...readers]) stop();
    },
  };
}
