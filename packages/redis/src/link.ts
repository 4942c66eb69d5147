import { type CallOptions, StorageUnavailable } from '@questline/core/ports';
import type { RedisClient } from './client.ts';
import { createDeadline, type Deadline, within } from './deadline.ts';

/** Redis became unreachable or reachable. Reported once per change. */
export interface RedisStateChange {
  readonly state: 'away' | 'back';
  /** The error of the call that detected it. Only for `away`. */
  readonly error?: unknown;
}

export interface RedisOptions {
  /** The host's client. This package never closes it, and opens only the publisher's connection for subscriptions. */
  readonly client: RedisClient;
  /** Prefix of every key and channel. Deployments that share a Redis need different prefixes. Default `questline`. */
  readonly prefix?: string;
  /** Timeout of a call, after which Redis counts as unavailable. Default 300 ms. */
  readonly timeoutMs?: number;
  /** For the host's log. */
  readonly onStateChange?: (change: RedisStateChange) => void;
}

/** The connection to Redis, and whether it is usable. */
export interface RedisConnection {
  readonly client: RedisClient;
  /** Builds a key: all keys of one `kind` and `key` are in one slot of a cluster. */
  getKey(kind: string, key: string): string;
  /**
   * Runs `command` within the deadline. While Redis is unavailable, sends nothing except an occasional check
   * for its return.
   * @throws StorageUnavailable when Redis is unavailable or did not answer. The command may have run.
   */
  run<T>(key: string, command: (client: RedisClient) => Promise<T>, options?: CallOptions): Promise<T>;
  /** Creates the deadline of a call. */
  deadline(): Deadline;
  /** @returns a function that stops it. */
  onBack(listener: () => void): () => void;
}

/** Interval of checks during calls. */
const LOOK_EVERY_MS = 250;
/** Maximum age of a failed check: after it, calls wait for a new one. A check without an answer is repeated after this time. */
const LOOK_LASTS_MS = 2000;

export function createLink({
  client,
  prefix = 'questline',
  timeoutMs = 300,
  onStateChange,
}: RedisOptions): RedisConnection {
  let isAway = false;
  /** Counts state changes, so that a call that started before one does not cause another. */
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
      // An error in the host's log must not fail the call.
    }
  };

  /** A write, because a replica would answer a ping. Without a timeout: a frozen connection answers when it resumes. */
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

  /** With steady calls, checks run beside them. After a pause the state is unknown: all calls wait for the first check. */
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
    getKey: (kind, key) => `${prefix}:${kind}:{${key}}`,
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
        if (changes === before) {
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
