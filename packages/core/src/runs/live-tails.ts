import type { Store } from '../ports/store.ts';
import type { Following, LiveFollowers } from './live-followers.ts';
import { type LivePhase, type LiveTail, type LiveTailServices, startLiveTail } from './live-tail.ts';
import { QUESTS } from './records.ts';
import { hasEnded } from './states.ts';

/** The streams that readers of this process follow: one tail per stream, for any number of readers. */
export interface LiveTails {
  /**
   * Opens the tail of a stream. @param isEnded whether its work has ended; default: that of the quest with this id.
   * @returns the tail, and a function to call once when its reader has left.
   */
  open(stream: string, isEnded?: () => Promise<boolean>): { readonly tail: LiveTail; close(): void };
  /** Registers a reader that a shutdown stops. @returns a function that unregisters. */
  add(stop: () => void): () => void;
  /** Stops all readers of this process; they continue at another one. */
  dismiss(): void;
}

interface OpenTail {
  readonly tail: ReturnType<typeof startLiveTail>;
  readonly following: Following | undefined;
  readers: number;
}

export function createLiveTails(
  services: LiveTailServices & { readonly store: Store; readonly liveFollowers: LiveFollowers },
): LiveTails {
  const quests = services.store.collection(QUESTS);
  const tails = new Map<string, OpenTail>();
  const readers = new Set<() => void>();

  const getQuestPhase = async (questId: string, following: Following): Promise<LivePhase> => {
    const quest = await quests.get(questId);
    if (quest === undefined || hasEnded(quest)) return 'over';
    await following.see(quest);
    return quest.status === 'waiting' ? 'waiting' : 'running';
  };

  return {
    open(stream, isEnded) {
      let entry = tails.get(stream);
      // An ended tail looks no more.
      if (entry === undefined || entry.tail.isOver()) {
        const following = isEnded === undefined ? services.liveFollowers.follow(stream) : undefined;
        const getPhase = async (): Promise<LivePhase> => {
          if (following !== undefined) return getQuestPhase(stream, following);
          return (await isEnded?.()) === true ? 'over' : 'running';
        };
        entry = { tail: startLiveTail(services, stream, getPhase, following), following, readers: 0 };
        tails.set(stream, entry);
      }
      const opened = entry;
      opened.readers += 1;
      return {
        tail: opened.tail,
        close() {
          opened.readers -= 1;
          if (opened.readers > 0) return;
          opened.tail.stop();
          opened.following?.leave();
          if (tails.get(stream) === opened) tails.delete(stream);
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
