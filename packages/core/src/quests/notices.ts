import type { Incident } from '../incident.ts';
import type { Clock } from '../ports/clock.ts';
import type { Publisher } from '../ports/publisher.ts';
import type { Collection } from '../ports/store.ts';
import type { QuestRecord } from './records.ts';
import { hasEnded } from './transitions.ts';

const STOPPED = 'quests.stopped';

/**
 * Published messages get lost, and a worker elsewhere may share no publisher: a waiting caller looks for itself, less
 * and less often.
 */
const FIRST_LOOK_MS = 250;
const LOOK_EVERY_MS = 2000;

/** Tells those who wait for a quest, and those who work on one, what became of it. */
export interface QuestNotices {
  /** A quest has ended: who waits for it may go. */
  ended(questId: string): void;
  /** A quest was stopped from outside: who works on it may stop. */
  stopped(questId: string): void;
  /** Hears of quests stopped in any process. @returns ends it. */
  onStopped(listener: (questId: string) => void): Promise<() => Promise<void>>;
  /**
   * Waits for a quest's end.
   * @returns the quest as it is when it has ended, the time is up, the caller has left or nobody may wait any more;
   *   undefined when it is gone.
   */
  untilEnded(
    quests: Collection<QuestRecord>,
    questId: string,
    terms: { readonly timeoutMs: number; readonly signal: AbortSignal },
  ): Promise<QuestRecord | undefined>;
  /** Lets everybody go who waits in this process. */
  dismiss(): void;
}

export function createQuestNotices(services: {
  readonly publisher: Publisher;
  readonly clock: Clock;
  readonly onError: (incident: Incident) => void;
}): QuestNotices {
  const { publisher, clock } = services;
  const waiting = new Set<() => void>();

  const report = (operation: 'publish' | 'subscribe' | 'wait', error: unknown): void => {
    services.onError({ operation, requestId: '', error });
  };

  /** Nobody waits for a notice to go out, and one that is lost costs only time. */
  const publish = async (topic: string, message: string): Promise<void> => {
    try {
      await publisher.publish(topic, message);
    } catch (error) {
      report('publish', error);
    }
  };

  /** Calls once it is listening, too: what was told before then was not heard. @returns ends it. */
  const listen = (topic: string, listener: () => void): (() => Promise<void>) => {
    const subscribe = async (): Promise<() => Promise<void>> => {
      const end = await publisher.subscribe(topic, listener);
      listener();
      return end;
    };
    const subscribing = subscribe();
    // Who is not told looks for itself.
    subscribing.catch((error: unknown) => report('subscribe', error));
    return async () => {
      try {
        const end = await subscribing.catch(() => undefined);
        await end?.();
      } catch (error) {
        report('subscribe', error);
      }
    };
  };

  return {
    ended(questId) {
      void publish(topicOf(questId), 'ended');
    },

    stopped(questId) {
      void publish(STOPPED, questId);
      void publish(topicOf(questId), 'ended');
    },

    onStopped: (listener) => publisher.subscribe(STOPPED, listener),

    async untilEnded(quests, questId, { timeoutMs, signal }) {
      let isOver = signal.aborted;
      let ring = (): void => undefined;
      const wake = (): void => ring();
      const giveUp = (): void => {
        isOver = true;
        ring();
      };
      const unlisten = listen(topicOf(questId), wake);
      const cancelTimeout = clock.timer(timeoutMs, giveUp);
      signal.addEventListener('abort', giveUp, { once: true });
      waiting.add(giveUp);
      try {
        for (let pause = FIRST_LOOK_MS; ; ) {
          const woken = new Promise<void>((resolve) => {
            ring = resolve;
          });
          try {
            const quest = await quests.get(questId);
            if (quest === undefined || hasEnded(quest) || isOver) return quest;
          } catch (error) {
            // The quest goes on; what cannot be seen now can be at the next look.
            if (isOver) throw error;
            report('wait', error);
          }
          const cancelLook = clock.timer(pause, () => {
            pause = Math.min(2 * pause, LOOK_EVERY_MS);
            ring();
          });
          await woken;
          cancelLook();
        }
      } finally {
        waiting.delete(giveUp);
        signal.removeEventListener('abort', giveUp);
        cancelTimeout();
        void unlisten();
      }
    },

    dismiss() {
      for (const giveUp of waiting) giveUp();
    },
  };
}

function topicOf(questId: string): string {
  return `quest.${questId}`;
}
