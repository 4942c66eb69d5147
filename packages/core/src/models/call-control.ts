import type { Clock } from '../ports/clock.ts';
import type { Meter } from './meter.ts';

/** Maximum wait for the usage report of a complete answer after the client disconnected. */
const REPORT_WAIT_MS = 2000;

/** Cancels one provider call. */
export interface CallControl {
  /** The signal for the provider. */
  readonly signal: AbortSignal;
  /** Cancels the provider call immediately. */
  stop(reason: unknown): void;
  /**
   * Cancels the provider call after the client disconnected: immediately, or, if only the usage report of a complete
   * answer is missing, on its arrival or after two seconds. Never rejects.
   * @param readOn reads the remaining parts until the meter has its report.
   */
  cancelAfterDisconnect(reason: unknown, readOn: () => Promise<unknown>): Promise<void>;
}

export function createCallControl(meter: Pick<Meter, 'awaitsReport'>, clock: Clock): CallControl {
  return new ProviderCallControl(meter, clock);
}

/** A class, because every open stream keeps one. */
class ProviderCallControl implements CallControl {
  readonly #meter: Pick<Meter, 'awaitsReport'>;
  readonly #clock: Clock;
  readonly #control = new AbortController();

  constructor(meter: Pick<Meter, 'awaitsReport'>, clock: Clock) {
    this.#meter = meter;
    this.#clock = clock;
  }

  get signal(): AbortSignal {
    return this.#control.signal;
  }

  stop(reason: unknown): void {
    this.#control.abort(reason);
  }

  async cancelAfterDisconnect(reason: unknown, readOn: () => Promise<unknown>): Promise<void> {
    if (this.#meter.awaitsReport) await waitFor(readOn(), this.#clock);
    this.#control.abort(reason);
  }
}

/** Resolves when the read settles or the time is over. */
function waitFor(reading: Promise<unknown>, clock: Clock): Promise<void> {
  return new Promise((resolve) => {
    const cancel = clock.timer(REPORT_WAIT_MS, resolve);
    const end = (): void => {
      cancel();
      resolve();
    };
    reading.then(end, end);
  });
}
