import type { Clock } from '../ports/clock.ts';
import type { Publisher } from '../ports/publisher.ts';
import type { Incident } from '../shared/incident.ts';
import type { QuestRecord } from './records.ts';
import { hasEnded } from './states.ts';

const STOPPED = 'quests.stopped';

/**
 * Messages may be lost, and a worker may not share the publisher, so a waiting caller also polls with growing
 * intervals.
 */
const FIRST_LOOK_MS = 250;
const LOOK_EVERY_MS = 2000;

/** Notifies waiting callers and running workers about the end of a quest. */
export interface QuestEvents {
  /** Publishes that a quest ended, for waiting callers. */
  ended(questId: string): void;
  /** Publishes that a quest waits for decisions, for waiting callers. */
  paused(questId: string): void;
  /** Publishes that a quest was stopped, for its worker. */
  stopped(questId: string): void;
  /** Subscribes to quests stopped in any process. @returns a function that unsubscribes. */
  onStopped(listener: (questId: string) => void): Promise<() => Promise<void>>;
  /**
   * Waits for the end of a quest. @returns the quest when it ended or waits for decisions, after the timeout, after a disconnect or at
   * shutdown; undefined if it was deleted.
   */
  untilEnded<R extends Pick<QuestRecord, 'status'>>(
    quests: { get(id: string): Promise<R | undefined> },
    questId: string,
    options: { readonly timeoutMs: number; readonly signal: AbortSignal },
  ): Promise<R | undefined>;
  /** Ends all waits of this process. */
  dismiss(): void;
}

export function createQuestEvents(services: {
  readonly publisher: Publisher;
  readonly clock: Clock;
  readonly onError: (incident: Incident) => void;
}): QuestEvents {
  const { publisher, clock } = services;
  const waiting = new Set<() => void>();

  const report = (operation: 'publish' | 'subscribe' | 'wait', error: unknown): void => {
    services.onError({ operation, requestId: '', error });
  };

  /** Fire and forget: a lost message only delays the waiting caller. */
  const publish = async (topic: string, message: string): Promise<void> => {
    try {
      await publisher.publish(topic, message);
    } catch (error) {
      report('publish', error);
    }
  };

  /**
   * Also calls the listener when the subscription is active, because earlier messages were missed. @returns a
   * function that unsubscribes.
   */
  const listen = (topic: string, listener: () => void): (() => Promise<void>) => {
    const subscribe = async (): Promise<() => Promise<void>> => {
      const end = await publisher.subscribe(topic, listener);
      listener();
      return end;
    };
    const subscribing = subscribe();
    // Without messages the caller polls.
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
      void publish(getQuestTopic(questId), 'ended');
    },

    paused(questId) {
      void publish(getQuestTopic(questId), 'waiting');
    },

    stopped(questId) {
      void publish(STOPPED, questId);
      void publish(getQuestTopic(questId), 'ended');
    },

    onStopped: (listener) => publisher.subscribe(STOPPED, listener),

    async untilEnded(quests, questId, { timeoutMs, signal }) {
      let isOver = signal.aborted;
      let resolveWait = (): void => undefined;
      const wake = (): void => resolveWait();
      const giveUp = (): void => {
        isOver = true;
        resolveWait();
      };
      const unlisten = listen(getQuestTopic(questId), wake);
      const cancelTimeout = clock.timer(timeoutMs, giveUp);
      signal.addEventListener('abort', giveUp, { once: true });
      waiting.add(giveUp);
      try {
        for (let pause = FIRST_LOOK_MS; ; ) {
          const woken = new Promise<void>((resolve) => {
            resolveWait = resolve;
          });
          try {
            const quest = await quests.get(questId);
            if (quest === undefined || hasEnded(quest) || quest.status === 'waiting' || isOver) return quest;
          } catch (error) {
            // The quest continues; the next poll may succeed.
            if (isOver) throw error;
            report('wait', error);
          }
          const cancelLook = clock.timer(pause, () => {
            pause = Math.min(2 * pause, LOOK_EVERY_MS);
            resolveWait();
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

export function getQuestTopic(questId: string): string {
  return `quest.${questId}`;
}
