import { LRUCache } from 'lru-cache';
import type { Clock } from '../ports/clock.ts';
import type { JobQueue } from '../ports/queue.ts';
import type { Store } from '../ports/store.ts';
import { withMaxEntries } from '../shared/cache-size.ts';
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
  /** Begins the admission of one request of an owner. */
  open(ownerId: string): Admission;
}

/** The admission of one request. */
export interface Admission {
  /**
   * Enters the lines of the owner and of all owners, before the work is stored. A promise only when a line counts.
   * @throws ApiError 503 with `Retry-After`: the seconds after which the owner is admitted.
   */
  enter(): void | Promise<void>;
  /** Call once, also if the request did not enter. @param isStored whether its work was stored. */
  end(isStored: boolean): void;
}

export function createWorkLine(
  { store, queue, clock }: { readonly store: Store; readonly queue: JobQueue; readonly clock: Clock },
  { maxWaiting, maxWaitingPerOwner }: LineSettings,
): WorkLine {
  const quests = store.collection(QUESTS);
  const line = maxWaiting
    ? createLine({ clock, max: maxWaiting, hasOwners: true }, async () => (await queue.counts()).ready)
    : undefined;
  const byOwner = new LRUCache<string, Line>(withMaxEntries(MAX_OWNERS));

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
    open(ownerId) {
      const own = getOwnerLine(ownerId);
      return own === undefined && line === undefined ? UNLIMITED : new LineAdmission(ownerId, own, line);
    },
  };
}

const UNLIMITED: Admission = { enter: () => undefined, end: () => undefined };

/** A class, because every accepted request creates one. */
class LineAdmission implements Admission {
  readonly #ownerId: string;
  readonly #own: Line | undefined;
  readonly #all: Line | undefined;
  #isInOwn = false;
  #isInAll = false;

  constructor(ownerId: string, own: Line | undefined, all: Line | undefined) {
    this.#ownerId = ownerId;
    this.#own = own;
    this.#all = all;
  }

  enter(): void | Promise<void> {
    const wait = this.#own?.enter(this.#ownerId);
    if (wait instanceof Promise) return wait.then((ms) => this.#enterAll(ms));
    return this.#enterAll(wait);
  }

  #enterAll(ownWait: number | undefined): void | Promise<void> {
    if (ownWait !== undefined) throw refuse(ownWait, 'Too many of your requests wait.');
    this.#isInOwn = this.#own !== undefined;
    const wait = this.#all?.enter(this.#ownerId);
    if (wait instanceof Promise) return wait.then((ms) => this.#arrive(ms));
    this.#arrive(wait);
  }

  #arrive(wait: number | undefined): void {
    if (wait !== undefined) throw refuse(wait, 'Too many requests wait.');
    this.#isInAll = this.#all !== undefined;
  }

  end(isStored: boolean): void {
    if (this.#isInOwn) this.#own?.leave(isStored);
    if (this.#isInAll) this.#all?.leave(isStored);
  }
}

function refuse(afterMs: number, reason: string): ApiError {
  const seconds = afterMs / 1000;
  return new ApiError(503, `${reason} Try again in ${seconds} seconds.`, {
    headers: { 'Retry-After': String(seconds) },
    applicationCode: 'INTERNAL_ERROR',
  });
}
