import type { Clock } from '../ports/clock.ts';
import type { EventLog } from '../ports/event-log.ts';
import type { Ids } from '../ports/ids.ts';
import type { CreditLedger } from '../ports/ledger.ts';
import type { RateLimiter } from '../ports/limiter.ts';
import type { Publisher } from '../ports/publisher.ts';
import type { JobQueue } from '../ports/queue.ts';
import type { Store } from '../ports/store.ts';
import { createSystemClock } from './clock.ts';
import { createMemoryEventLog } from './event-log.ts';
import { createIds } from './ids.ts';
import { createMemoryLedger } from './ledger.ts';
import { createMemoryLimiter } from './limiter.ts';
import { createMemoryPublisher } from './publisher.ts';
import { createMemoryQueue } from './queue.ts';
import { createMemoryStore } from './store.ts';

/** All required ports of `createServices` except `models`. */
export interface MemoryPorts {
  readonly store: Store;
  readonly ledger: CreditLedger;
  readonly limiter: RateLimiter;
  readonly queue: JobQueue;
  readonly publisher: Publisher;
  readonly eventLog: EventLog;
  readonly clock: Clock;
  readonly ids: Ids;
}

/** Creates all ports in memory, for tests and evaluation. A restart loses all data. */
export function createMemoryPorts(options: { readonly clock?: Clock; readonly ids?: Ids } = {}): MemoryPorts {
  const clock = options.clock ?? createSystemClock();
  const ids = options.ids ?? createIds({ clock });
  return {
    store: createMemoryStore(),
    ledger: createMemoryLedger({ clock }),
    limiter: createMemoryLimiter(),
    queue: createMemoryQueue({ clock, ids }),
    publisher: createMemoryPublisher(),
    eventLog: createMemoryEventLog({ clock }),
    clock,
    ids,
  };
}
