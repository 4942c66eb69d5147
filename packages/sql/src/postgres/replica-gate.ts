import { createDeadline, pause } from '../deadline.ts';

/** Milliseconds that reads wait for a replica that is behind. */
const WAIT_MS = 20;
/** Milliseconds without a look at a replica that did not catch up. */
const BEHIND_MS = 500;
/** The same for one that failed. */
const FAILED_MS = 5000;

/** Whether a replica is used. `behind`: it did not catch up in time. `failed`: it cannot be used, see the error. */
export type ReplicaState = 'used' | 'behind' | 'failed';

/** Lets reads pass to a replica that has every commit that was made before them. */
export interface ReplicaGate {
  /** False for a while after the replica was behind or failed. */
  isOpen(): boolean;
  /** @returns whether a statement that starts now on the replica sees every commit that was made before this call. */
  pass(): Promise<boolean>;
  /** A statement on the replica failed. */
  fail(error: unknown): void;
}

export interface ReplicaGateOptions {
  /** The position in the log of changes that every commit visible now is at or below. */
  getPosition(): Promise<string>;
  /** @throws unless it follows the primary. */
  hasReplayed(position: string): Promise<boolean>;
  onState(state: ReplicaState, error?: unknown): void;
}

/**
 * The position is read after the call and before the look at the replica, so the answer holds for all calls that wait for
 * one round: under load, many reads share two short statements.
 */
export function createReplicaGate({ getPosition, hasReplayed, onState }: ReplicaGateOptions): ReplicaGate {
  let closed = createDeadline(0);
  let state: ReplicaState | undefined;
  let running: Promise<boolean> = Promise.resolve(false);
  /** The round of calls that came after the running one had read its position. */
  let next: Promise<boolean> | undefined;

  const set = (value: ReplicaState, closedMs: number, error?: unknown): boolean => {
    closed = createDeadline(closedMs);
    if (state !== value) onState(value, error);
    state = value;
    return value === 'used';
  };

  const look = async (): Promise<boolean> => {
    const deadline = createDeadline(WAIT_MS);
    try {
      const position = await getPosition();
      for (let tries = 0; !(await hasReplayed(position)); tries += 1) {
        if (deadline.left() === 0) return set('behind', BEHIND_MS);
        await pause(Math.min(tries, 2), deadline);
      }
      return set('used', 0);
    } catch (error) {
      return set('failed', FAILED_MS, error);
    }
  };

  return {
    isOpen: () => closed.left() === 0,
    pass() {
      next ??= running.then(() => {
        next = undefined;
        return look();
      });
      running = next;
      return next;
    },
    fail(error) {
      set('failed', FAILED_MS, error);
    },
  };
}
