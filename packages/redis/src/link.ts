import { type CallOptions, StorageUnavailable } from '@questline/core';
import type { RedisClient } from './client.ts';
import { createDeadline, type Deadline, within } from './deadline.ts';

/** Redis went away or came back. Told once per change, however many calls notice. */
export interface RedisStateChange {
  readonly state: 'away' | 'back';
  /** Why the call that noticed had failed. Only when away. */
  readonly error?: unknown;
}

export interface RedisOptions {
  /** The user's own. It is never closed, and no other is opened but the publisher's for its subscriptions. */
  readonly client: RedisClient;
  /** Before the name of every key and channel. Deployments that share a Redis need different ones. Default `questline`. */
  readonly prefix?: string;
  /** How long a call may take until Redis counts as away. Default 300 ms. */
  readonly timeoutMs?: number;
  /** For the host's log. */
  readonly onStateChange?: (change: RedisStateChange) => void;
}

/** The way to Redis, and whether it can be gone. */
export interface RedisLink {
  readonly client: RedisClient;
  /** The name of a key: all names of one `kind` and `key` fall into one slot of a cluster. */
  keyOf(kind: string, key: string): string;
  /**
   * Answers what `command` does, within the deadline. While Redis is away nothing is sent but, now and then, a look
   * whether it is back.
   * @throws StorageUnavailable when Redis is away or did not do it. It may have been done all the same.
   */
  run<T>(key: string, command: (client: RedisClient) => Promise<T>, options?: CallOptions): Promise<T>;
  /** A deadline as every call has it. */
  deadline(): Deadline;
  /** @returns stops it. */
  onBack(listener: () => void): () => void;
}

/** How often Redis is looked for while calls come in. */
const LOOK_EVERY_MS = 250;
/** So old a refusal says nothing any more: the calls wait for a new look. One without any answer is repeated after that time. */
const LOOK_LASTS_MS = 2000;

export function createLink({
  client,
  prefix = 'questline',
  timeoutMs = 300,
  onStateChange,
}: RedisOptions): RedisLink {
  let isAway = false;
  /** Counts the changes, so that what began before one does not cause another. */
  let changes = 0;
  let lookedAt = Number.NEGATIVE_INFINITY;
  let look: { readonly answer: Promise<void>; readonly isAwaited: boolean } | undefined;
  const listeners = new Set<() => void>();

  const change = (next: RedisStateChange): void => {
    isAway = next.state === 'away';
    changes += 1;
    try {
      onStateChange?.(next);
      if (!isAway) for (const listener of [...listeners]) listener();
    } catch {
      // A host's broken log must not break an answer.
    }
  };

  /** Writes something, because a replica would answer a mere greeting. Not given up: a frozen connection answers it once it thaws. */
  const startLook = (key: string, isAwaited: boolean): void => {
    lookedAt = performance.now();
    const answer = client.call('SET', `${key}:look`, '1', 'PX', 1000).then(
      () => {
        if (isAway) change({ state: 'back' });
      },
      () => {
        if (look === started) look = undefined;
      },
    );
    const started = { answer, isAwaited };
    look = started;
  };

  /** While calls come in, looks go beside them. After a silence nobody knows: all wait for the look of the first. */
  const isBack = async (key: string, deadline: Deadline): Promise<boolean> => {
    const age = performance.now() - lookedAt;
    if (look === undefined) {
      if (age >= LOOK_EVERY_MS) startLook(key, age >= LOOK_LASTS_MS);
    } else if (age >= LOOK_LASTS_MS) startLook(key, false);
    const isYoung = performance.now() - lookedAt < timeoutMs;
    if (look?.isAwaited === true && isYoung) {
      await within(look.answer, deadline, tooLate).catch(() => undefined);
    }
    return !isAway;
  };

  const tooLate = () => new StorageUnavailable(`Redis did not answer within ${timeoutMs} ms`);

  return {
    client,
    keyOf: (kind, key) => `${prefix}:${kind}:{${key}}`,
    deadline: () => createDeadline(timeoutMs),

    async run(key, command, options) {
      const signal = options?.signal;
      signal?.throwIfAborted();
      const deadline = createDeadline(timeoutMs);
      if (isAway && !(await isBack(key, deadline))) throw new StorageUnavailable('Redis is away');
      const before = changes;
      try {
        return await within(command(client), deadline, tooLate, signal);
      } catch (error) {
        if (signal?.aborted === true) throw error;
        if (!isAway && changes === before) {
          lookedAt = performance.now();
          look = undefined;
          change({ state: 'away', error });
        }
        throw new StorageUnavailable('Redis did not do what it was asked', { cause: error });
      }
    },

    onBack(listener) {
      listeners.add(listener);
      return () => {
        listeners.delete(listener);
      };
    },
  };
}
