import { LRUCache } from 'lru-cache';
import type { Clock } from '../ports/clock.ts';
import type { JobQueue } from '../ports/queue.ts';
import type { Store } from '../ports/store.ts';
import { ApiError } from '../shared/errors.ts';
import { createLine, type Line } from './line.ts';
import { QUESTS } from './records.ts';

/** Owners whose lines a process knows. */
const MAX_OWNERS = 10_000;

/** Maximum lengths of the lines of accepted work, 1 to 9,000; `null` or 0: unlimited. */
export interface LineSettings {
  /** Jobs of all owners that wait for a worker. Default 5,000. */
  readonly maxWaiting: number | null;
  /** Turns, images, agent runs and responses of one owner that wait for a worker. Default 1,000. */
  readonly maxWaitingPerOwner: number | null;
}

export const DEFAULT_LINE_SETTINGS = {
  maxWaiting: 5000,
  maxWaitingPerOwner: 1000,
} satisfies LineSettings;

/** Refuses new work while too much work waits. */
export interface WorkLine {
  /**
   * Accepts work, if there is room in the lines of its owner and of all owners.
   * @param accept stores the work. It calls `enter` before, unless there is nothing to store. `enter` throws ApiError 503 with
   * `Retry-After`: the seconds after which the owner is admitted.
   */
  admit<T>(ownerId: string, accept: (enter: () => Promise<void>) => Promise<T>): Promise<T>;
}

export function createWorkLine(
  { store, queue, clock }: { readonly store: Store; readonly queue: JobQueue; readonly clock: Clock },
  { maxWaiting, maxWaitingPerOwner }: LineSettings,
): WorkLine {
  const quests = store.collection(QUESTS);
  const line = maxWaiting
    ? createLine({ clock, max: maxWaiting, hasOwners: true }, async () => (await queue.counts()).ready)
    : undefined;
  const byOwner = new LRUCache<string, Line>({ max: MAX_OWNERS });

  const getOwnerLine = (ownerId: string): Line | undefined => {
    if (!maxWaitingPerOwner) return undefined;
    const known = byOwner.get(ownerId);
    if (known !== undefined) return known;
    const created = createLine({ clock, max: maxWaitingPerOwner, hasOwners: false }, () =>
      // Reads the index of live quests, which the line of all owners bounds.
      quests.count({ ownerId, status: 'pending', liveSince: { gt: 0 } }),
    );
    byOwner.set(ownerId, created);
    return created;
  };

  return {
    async admit(ownerId, accept) {
      const ends: ((isStored: boolean) => void)[] = [];
      const enterLine = async (entered: Line | undefined, reason: string): Promise<void> => {
        const entry = await entered?.enter(ownerId);
        if (entry === undefined) return;
        if (!entry.isAdmitted) throw refuse(entry.afterMs, reason);
        ends.push(entry.end);
      };
      let isStored = false;
      try {
        const answer = await accept(async () => {
          await enterLine(getOwnerLine(ownerId), 'Too many of your requests wait.');
          await enterLine(line, 'Too many requests wait.');
        });
        isStored = true;
        return answer;
      } finally {
        for (const end of ends) end(isStored);
      }
    },
  };
}

function refuse(afterMs: number, reason: string): ApiError {
  const seconds = afterMs / 1000;
  return new ApiError(503, `${reason} Try again in ${seconds} seconds.`, {
    headers: { 'Retry-After': String(seconds) },
    applicationCode: 'INTERNAL_ERROR',
  });
}
