import { LRUCache } from 'lru-cache';
import type { Clock } from '../ports/clock.ts';
import { isProviderError, ProviderError } from '../ports/models.ts';
import { isStorageUnavailable } from '../ports/store.ts';
import { withMaxEntries } from '../shared/cache-size.ts';
import { isApiError } from '../shared/errors.ts';
import type { StopSignal } from '../shared/stop-signal.ts';
import type { CatalogueEntry } from './catalogue.ts';

/** Consecutive failures that open a circuit. */
const MAX_FAILURES = 5;
/** Maximum failures of one caller that count for all callers: below `MAX_FAILURES`. */
const MAX_FAILURES_PER_CALLER = 3;
/** Time until an open circuit lets a trial call through. */
const OPEN_MS = 30_000;
/** Retry-After of calls that are rejected during the trial call. */
const TRIAL_MS = 5000;
/** Maximum number of circuits. An evicted circuit is closed. */
const MAX_CIRCUITS = 10_000;

/** The key of a circuit: calls that fail together. */
export interface Circuit {
  readonly providerId: string;
  /** The provider's name for the model. */
  readonly model: string;
  /** A hash of the user's own provider key, if used. Absent: the workspace's key. */
  readonly credential: string | undefined;
  /** The user id of the caller. */
  readonly callerId: string;
}

/**
 * Circuit breaker: rejects calls to a failing model, so that they fail fast or use a fallback model. Counts in this
 * process only. Safe for concurrent calls.
 *
 * A circuit opens for 30 seconds after five consecutive provider failures: no connection, a 5xx, overload or a
 * timeout. It opens for all callers only if calls of more than one caller failed. Then one trial call passes: any
 * response of the provider, even an error response, closes the circuit; a provider failure opens it again.
 */
export interface CircuitBreaker {
  /** Returns the milliseconds until a call may be tried; 0: now. Does not claim the trial call. */
  retryAfterMs(circuit: Circuit): number;
  /**
   * Runs `work` unless the circuit is open, and records its result. Aborted work and internal errors are not counted.
   * @throws ProviderError `overloaded` with the code `circuit_open` and the time left, without running `work`.
   */
  call<T>(circuit: Circuit, signal: StopSignal | undefined, work: () => Promise<T>): Promise<T>;
}

interface State {
  failures: number;
  /** The time when an open circuit lets a trial call through. */
  openUntil: number;
  isTrying: boolean;
  /** Counted failures by caller. */
  readonly counted: Map<string, number>;
}

/** A failure counter, of all callers or of one. */
interface Gate {
  readonly key: string;
  /** Maximum counted failures per caller. */
  readonly maxPerCaller: number;
}

export function createCircuitBreaker(clock: Clock): CircuitBreaker {
  const states = new LRUCache<string, State>(withMaxEntries(MAX_CIRCUITS));

  const isOpen = (state: State | undefined): state is State =>
    state !== undefined && state.failures >= MAX_FAILURES;

  const waitMs = ({ key }: Gate): number => {
    const state = states.get(key);
    if (!isOpen(state)) return 0;
    return Math.max(state.openUntil - clock.now(), state.isTrying ? TRIAL_MS : 0);
  };

  const countFailure = ({ key, maxPerCaller }: Gate, callerId: string): void => {
    const state = states.get(key) ?? { failures: 0, openUntil: 0, isTrying: false, counted: new Map() };
    const counted = state.counted.get(callerId) ?? 0;
    if (counted >= maxPerCaller) return;
    state.counted.set(callerId, counted + 1);
    state.failures += 1;
    state.openUntil = clock.now() + OPEN_MS;
    states.set(key, state);
  };

  const retryAfterMs = (circuit: Circuit): number =>
    states.size === 0 ? 0 : Math.max(...getGates(circuit).map(waitMs));

  /** Records the result of a call. @param trials the open circuits that the call tries out. */
  const record = <T>(
    circuit: Circuit,
    signal: StopSignal | undefined,
    result: Promise<T>,
    trials: readonly State[] = [],
  ): Promise<T> =>
    result.then(
      (value) => {
        if (states.size > 0) for (const { key } of getGates(circuit)) states.delete(key);
        return value;
      },
      (error: unknown) => {
        if (signal?.aborted !== true && !isApiError(error) && !isStorageUnavailable(error)) {
          for (const gate of getGates(circuit)) {
            if (isProviderFault(error)) countFailure(gate, circuit.callerId);
            else states.delete(gate.key);
          }
          // Also if further failures of the caller are not counted. Circuits that were just closed are forgotten.
          for (const trial of trials) trial.openUntil = clock.now() + OPEN_MS;
        }
        throw error;
      },
    );

  /** A call whose open circuits it may close. */
  const tryOut = async <T>(
    circuit: Circuit,
    signal: StopSignal | undefined,
    work: () => Promise<T>,
  ): Promise<T> => {
    const trials = getGates(circuit)
      .map(({ key }) => states.get(key))
      .filter(isOpen);
    for (const trial of trials) trial.isTrying = true;
    const endTrial = (): void => {
      for (const trial of trials) trial.isTrying = false;
    };
    // A provider that ignores the signal must not block the trial call.
    signal?.addEventListener('abort', endTrial);
    try {
      return await record(circuit, signal, begin(work), trials);
    } finally {
      signal?.removeEventListener('abort', endTrial);
      endTrial();
    }
  };

  return {
    retryAfterMs,

    call(circuit, signal, work) {
      // Without a failure to remember, which is the rule, a call looks nothing up.
      if (states.size === 0) return record(circuit, signal, begin(work));
      const wait = retryAfterMs(circuit);
      if (wait > 0) return Promise.reject(circuitOpen(wait));
      return tryOut(circuit, signal, work);
    },
  };
}

/** Starts work of a provider, which may throw. */
function begin<T>(work: () => Promise<T>): Promise<T> {
  try {
    return work();
  } catch (error) {
    return Promise.reject(error);
  }
}

/**
 * Failures of a single caller open the circuit for that caller only: a prompt that makes a provider fail is not an
 * outage.
 */
function getGates({ providerId, model, credential, callerId }: Circuit): readonly Gate[] {
  const shared = [providerId, model, credential];
  return [
    { key: JSON.stringify(shared), maxPerCaller: MAX_FAILURES_PER_CALLER },
    { key: JSON.stringify([...shared, callerId]), maxPerCaller: Number.POSITIVE_INFINITY },
  ];
}

export function getCircuit(entry: CatalogueEntry, callerId: string): Circuit {
  const { provider, providerModel: model, credential } = entry;
  return { providerId: provider.id, model, credential, callerId };
}

export function circuitOpen(retryAfterMs: number): ProviderError {
  return new ProviderError('overloaded', 'the circuit breaker is open', {
    retryAfterMs,
    code: 'circuit_open',
  });
}

/** Whether an error indicates an outage of the provider. */
function isProviderFault(error: unknown): boolean {
  if (!isProviderError(error)) return true;
  const { kind, status } = error;
  if (kind === 'failed') return status === undefined || status >= 500;
  return kind === 'overloaded' || kind === 'timeout';
}
