import type { PeriodicTask } from '../../../jobs/engine.ts';
import type { Clock } from '../../../ports/clock.ts';
import type { EventLog } from '../../../ports/event-log.ts';
import { removeAll } from '../../../ports/remove-where.ts';
import type { Store } from '../../../ports/store.ts';
import { readLiveText } from '../../../runs/live-state.ts';
import { STALE_MS, STORED_COMPLETIONS, type StoredCompletion } from './records.ts';

export interface InterruptedServices {
  readonly store: Store;
  readonly eventLog: EventLog;
  readonly clock: Clock;
}

const INTERRUPTED = 'The process that answered has stopped.';
const MAX_PAGE = 200;

/** Whether the process of a running completion has stopped. */
export function isInterrupted({ status, heartbeatAt }: StoredCompletion, now: number): boolean {
  return status === 'running' && heartbeatAt <= now - STALE_MS;
}

/** Ends an interrupted completion with the text that its readers have. @returns undefined if it was changed or deleted. */
export async function failInterrupted(
  { store, eventLog, clock }: InterruptedServices,
  { id }: StoredCompletion,
): Promise<StoredCompletion | undefined> {
  const text = await readLiveText(eventLog, id);
  const end = { status: 'failed', text, outcome: { error: { message: INTERRUPTED } } } as const;
  const isStale = { status: 'running', heartbeatAt: { lte: clock.now() - STALE_MS } } as const;
  return store.collection(STORED_COMPLETIONS).update(id, end, isStale);
}

/** Ends interrupted completions, and deletes expired ones. */
export function createStoredSweep(services: InterruptedServices): PeriodicTask {
  const { store, clock } = services;
  const completions = store.collection(STORED_COMPLETIONS);
  return {
    name: 'sweep-completions',
    everyMs: 60_000,
    async run() {
      const now = clock.now();
      const stale = { status: 'running', heartbeatAt: { lte: now - STALE_MS } } as const;
      for (const found of await completions.find(stale, { limit: MAX_PAGE }))
        await failInterrupted(services, found);
      await removeAll(completions, { expiresAt: { lte: now } });
    },
  };
}
