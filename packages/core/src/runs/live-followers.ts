import type { Clock } from '../ports/clock.ts';
import type { Publisher } from '../ports/publisher.ts';
import type { Store } from '../ports/store.ts';
import type { Incident } from '../shared/incident.ts';
import { QUESTS, type QuestRecord } from './records.ts';
import { markFollowed } from './transitions.ts';

const FOLLOWED = 'events.followed';
/** Interval at which a reader in another process announces itself, in milliseconds. */
const ANNOUNCE_EVERY_MS = 10_000;
/** How long a worker writes for an announced reader, in milliseconds. */
const FOLLOWED_MS = 30_000;

/** Interval at which a worker without a shared publisher looks for readers and for a cancel, in milliseconds. */
const LOOK_EVERY_MS = 1000;

/** A run of this process, as its writers see its readers. */
export interface FollowedRun {
  /** The worker must look at its quest at least so often while it works, in milliseconds. */
  readonly lookEveryMs: number;
  /** Whether a reader follows its events, here or, as far as is known, in another process. */
  isFollowed(): boolean;
  /** Looks for the mark of a reader in another process. */
  see(quest: QuestRecord | undefined): void;
  leave(): void;
}

/** The readers that this process has for one quest. */
export interface Following {
  /** Resolves when a run of this process has written its events so far. Never rejects. */
  readonly ready: Promise<unknown>;
  /** True: call `see` with the quest. */
  isDue(): boolean;
  /** No run of the quest is in this process. */
  isRemote(): boolean;
  /** Marks a quest that runs in another process as followed. */
  see(quest: QuestRecord): Promise<void>;
  leave(): void;
}

/** Connects the readers of running quests with their workers: a worker writes events only while readers follow them. */
export interface LiveFollowers {
  /**
   * @param hadWorker whether another worker had the quest: its readers may be in any process, and its late events are
   * refused only after the first ones of this run. @param onFollowed called when the first reader follows; resolves when the
   * events so far are written.
   */
  enter(
    quest: Pick<QuestRecord, 'id' | 'followedAt'>,
    hadWorker: boolean,
    onFollowed: () => Promise<unknown>,
  ): FollowedRun;
  /** A run of work that always, or never, writes as if it had readers. */
  enterFixed(isFollowed: boolean): FollowedRun;
  follow(questId: string): Following;
  /** Subscribes to readers in other processes. @returns a function that unsubscribes. */
  listen(): Promise<() => Promise<void>>;
}

interface Run {
  readonly run: FollowedRun;
  /** A reader follows: of this process, or for some time one of another process. */
  attend(): Promise<unknown>;
  announce(): void;
}

/** @param isShared whether the publisher reaches other processes. */
export function createLiveFollowers(
  services: {
    readonly store: Store;
    readonly publisher: Publisher;
    readonly clock: Clock;
    readonly onError: (incident: Incident) => void;
  },
  isShared: boolean,
): LiveFollowers {
  const lookEveryMs = isShared ? Number.POSITIVE_INFINITY : LOOK_EVERY_MS;
  const { publisher, clock, onError } = services;
  const quests = services.store.collection(QUESTS);
  const runs = new Map<string, Set<Run>>();
  const readers = new Map<string, number>();

  const publish = async (questId: string): Promise<void> => {
    try {
      await publisher.publish(FOLLOWED, questId);
    } catch (error) {
      // The worker meets the mark instead.
      onError({ operation: 'publish', requestId: '', error });
    }
  };

  return {
    enter({ id, followedAt }, hadWorker, onFollowed) {
      let seen = followedAt;
      /** Undefined: readers are expected with the first event, which may be late. */
      let until = hadWorker || followedAt !== undefined ? undefined : Number.NEGATIVE_INFINITY;
      const isFollowed = (): boolean => {
        until ??= clock.now() + FOLLOWED_MS;
        return readers.has(id) || clock.now() < until;
      };
      const announce = (): void => {
        const isNew = !isFollowed();
        until = clock.now() + FOLLOWED_MS;
        if (isNew) void onFollowed();
      };
      const entry: Run = {
        run: {
          lookEveryMs,
          isFollowed,
          see(quest) {
            // Compared, not measured: the clocks of processes differ.
            if (quest?.followedAt === undefined || quest.followedAt === seen) return;
            seen = quest.followedAt;
            announce();
          },
          leave() {
            here.delete(entry);
            if (here.size === 0 && runs.get(id) === here) runs.delete(id);
          },
        },
        attend: onFollowed,
        announce,
      };
      const here = runs.get(id) ?? new Set();
      runs.set(id, here.add(entry));
      return entry.run;
    },

    enterFixed: (isFollowed) => ({
      lookEveryMs,
      isFollowed: () => isFollowed,
      see: () => undefined,
      leave: () => undefined,
    }),

    follow(questId) {
      readers.set(questId, (readers.get(questId) ?? 0) + 1);
      const ready = Promise.all([...(runs.get(questId) ?? [])].map((entry) => entry.attend()));
      let markedAt = Number.NEGATIVE_INFINITY;
      const isDue = (): boolean => !runs.has(questId) && clock.now() - markedAt >= ANNOUNCE_EVERY_MS;
      return {
        ready,
        isDue,
        isRemote: () => !runs.has(questId),
        async see({ status, followedAt = Number.NEGATIVE_INFINITY }) {
          if (!isDue() || (status !== 'pending' && status !== 'running')) return;
          const now = clock.now();
          const isMarked = now - followedAt < ANNOUNCE_EVERY_MS;
          if (!isMarked) {
            void publish(questId);
            await markFollowed(quests, questId, now);
          }
          markedAt = isMarked ? Math.min(followedAt, now) : now;
        },
        leave() {
          const left = (readers.get(questId) ?? 1) - 1;
          if (left > 0) readers.set(questId, left);
          else readers.delete(questId);
        },
      };
    },

    listen: () =>
      publisher.subscribe(FOLLOWED, (questId) => {
        for (const entry of runs.get(questId) ?? []) entry.announce();
      }),
  };
}
