import type { PeriodicTask } from '../jobs/engine.ts';
import type { EventLog } from '../ports/event-log.ts';

/** Deletes the events of work that has ended, if the log does not do it by itself. */
export function createEventExpiry({ eventLog }: { readonly eventLog: EventLog }): PeriodicTask {
  return { name: 'expire-events', everyMs: 60_000, run: () => eventLog.expire() };
}
