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

interface WaitingCaller {
  end(quest: QuestRecord): void;
  giveUp(): void;
}

/** Notifies waiting callers and running workers about the end of a quest. */
export interface QuestEvents {
  /**
   * Publishes that a quest ended, for waiting callers. @param quest after its end, where it is known: callers of this process
   * need not read it.
   */
  ended(questId: string, quest?: QuestRecord): void;
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
  ): Promise<R | QuestRecord | undefined>;
  /** Ends all waits of this process. */
  dismiss(): void;
}

export function createQuestEvents(services: {
  readonly publisher: Publisher;
  readonly clock: Clock;
  readonly onError: (incident: Incident) => void;
}): QuestEvents {
  const { publisher, clock } = services;
  /** By quest. */
  const waiting = new Map<string, Set<WaitingCaller>>();

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
   * Also calls the listener when the subscription is active, because earlier messages were missed. @returns when it is active
   * or has failed, and a function that unsubscribes.
   */
  const listen = (topic: string, listener: () => void) => {
    const subscribe = async (): Promise<() => Promise<void>> => {
      const end = await publisher.subscribe(topic, listener);
      listener();
      return end;
    };
    const subscribing = subscribe();
    // Without messages the caller polls.
    const settled = subscribing.catch((error: unknown) => report('subscribe', error));
    const end = async (): Promise<void> => {
      try {
        const unsubscribe = await subscribing.catch(() => undefined);
        await unsubscribe?.();
      } catch (error) {
        report('subscribe', error);
      }
    };
    return { settled, end };
  };

  const addCaller = (questId: string, caller: WaitingCaller): (() => void) => {
    const callers = waiting.get(questId) ?? new Set();
    waiting.set(questId, callers.add(caller));
    return () => {
      callers.delete(caller);
      if (callers.size === 0 && waiting.get(questId) === callers) waiting.delete(questId);
    };
  };

  return {
    ended(questId, quest) {
      if (quest !== undefined) for (const caller of waiting.get(questId) ?? []) caller.end(quest);
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
      let ended: QuestRecord | undefined;
      const wake = (): void => resolveWait();
      const giveUp = (): void => {
        isOver = true;
        resolveWait();
      };
      const end = (quest: QuestRecord): void => {
        ended = quest;
        resolveWait();
      };
      const leave = addCaller(questId, { end, giveUp });
      const subscription = listen(getQuestTopic(questId), wake);
      const cancelTimeout = clock.timer(timeoutMs, giveUp);
      signal.addEventListener('abort', giveUp, { once: true });
      try {
        // A subscription that is active at once saves a second look.
        await Promise.race([subscription.settled, new Promise<void>((resolve) => setImmediate(resolve))]);
        for (let pause = FIRST_LOOK_MS; ; ) {
          if (ended !== undefined) return ended;
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
        leave();
        signal.removeEventListener('abort', giveUp);
        cancelTimeout();
        void subscription.end();
      }
    },

    dismiss() {
      for (const callers of waiting.values()) for (const { giveUp } of callers) giveUp();
    },
  };
}

export function getQuestTopic(questId: string): string {
  return `quest.${questId}`;
}
