import type { Clock } from '../ports/clock.ts';
import type { Ids } from '../ports/ids.ts';
import type { Incident } from '../shared/incident.ts';

const HOUR_MS = 3_600_000;
/** Pauses between retries, in milliseconds; the last one repeats. */
const PAUSES_MS = [200, 1000, 5000, 15_000, 60_000, 120_000, 300_000];
/** Each pause is up to this share shorter, so that a ledger that comes back is not called by all at once. */
const JITTER = 0.2;
/** Time after the first failure. */
const GIVE_UP_MS = 24 * HOUR_MS;
/** After the first failures, an outage is reported once in this time for each settlement. */
const REPORT_EVERY_MS = HOUR_MS;
/** About 20 MB. Without a ledger no call begins, so these are calls that ran when it went away. */
const MAX_WAITING = 10_000;
/** Bounds `flush`. */
const FLUSH_MS = 5000;
const FLUSH_CONCURRENCY = 32;

/** An end of a paid call that has failed once. */
export interface FailedEnd {
  readonly operation: string;
  readonly requestId: string;
  /** For operators: the call, its account and amount. */
  readonly description: string;
  /** Safe to repeat. */
  readonly work: () => Promise<unknown>;
  /** Called once, after a success or when it is given up. */
  readonly onEnd: () => void;
}

/** Repeats settlements that failed, because an unavailable ledger must not lose a charge. */
export interface SettlementRetries {
  /** Repeats it for 24 hours with growing pauses. Beyond 10,000 waiting ones it is given up and reported. */
  add(failed: FailedEnd, error: unknown): void;
  /** Tries each once more, in at most 5 seconds, and reports those that still fail. They are retried until the process ends. */
  flush(): Promise<void>;
}

interface Waiting extends FailedEnd {
  readonly since: number;
  attempts: number;
  reportedAt: number;
  running?: Promise<void> | undefined;
  cancel: () => void;
}

export function createSettlementRetries({
  clock,
  ids,
  onError,
}: {
  readonly clock: Clock;
  readonly ids: Pick<Ids, 'bytes'>;
  readonly onError: (incident: Incident) => void;
}): SettlementRetries {
  const waiting = new Set<Waiting>();

  const report = ({ operation, requestId }: FailedEnd, error: unknown): void =>
    onError({ operation, requestId, error });

  const giveUp = (failed: FailedEnd, reason: string, cause: unknown): void => {
    report(failed, new Error(`${failed.description} is not settled: ${reason}`, { cause }));
    failed.onEnd();
  };

  const tryAgain = (one: Waiting): Promise<void> => {
    one.cancel();
    one.running ??= one
      .work()
      .then(
        () => {
          waiting.delete(one);
          one.onEnd();
        },
        (error: unknown) => onFailure(one, error),
      )
      .finally(() => {
        one.running = undefined;
      });
    return one.running;
  };

  const onFailure = (one: Waiting, error: unknown): void => {
    const now = clock.now();
    if (now - one.since >= GIVE_UP_MS) {
      waiting.delete(one);
      giveUp(one, 'every retry of 24 hours has failed', error);
      return;
    }
    if (one.attempts <= PAUSES_MS.length || now - one.reportedAt >= REPORT_EVERY_MS) {
      one.reportedAt = now;
      report(one, error);
    }
    schedule(one);
  };

  const schedule = (one: Waiting): void => {
    const pause = PAUSES_MS[Math.min(one.attempts, PAUSES_MS.length - 1)] ?? 0;
    one.attempts += 1;
    const [byte = 0] = ids.bytes(1);
    const afterMs = Math.round(pause * (1 - JITTER * (1 - byte / 255)));
    one.cancel = clock.timer(afterMs, () => void tryAgain(one));
  };

  /** A try that began before is followed by another. */
  const tryOnceMore = async (one: Waiting): Promise<void> => {
    await one.running;
    if (waiting.has(one)) await tryAgain(one);
  };

  return {
    add(failed, error) {
      report(failed, error);
      if (waiting.size >= MAX_WAITING) {
        giveUp(failed, `${MAX_WAITING} others wait for a retry`, error);
        return;
      }
      const now = clock.now();
      const one: Waiting = { ...failed, since: now, attempts: 0, reportedAt: now, cancel: () => undefined };
      waiting.add(one);
      schedule(one);
    },
    async flush() {
      if (waiting.size === 0) return;
      const left = [...waiting].values();
      let isOver = false;
      const tryRest = async (): Promise<void> => {
        for (const one of left) {
          if (isOver) return;
          await tryOnceMore(one);
        }
      };
      let cancel = (): void => undefined;
      const timeout = new Promise<void>((resolve) => {
        cancel = clock.timer(FLUSH_MS, () => {
          isOver = true;
          resolve();
        });
      });
      await Promise.race([Promise.all(Array.from({ length: FLUSH_CONCURRENCY }, tryRest)), timeout]);
      cancel();
      for (const one of waiting) {
        report(
          one,
          new Error(`${one.description} is not settled: the API was closed before a retry succeeded`),
        );
      }
    },
  };
}
