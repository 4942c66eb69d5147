import type { EventLog } from '../src/ports/event-log.ts';
import type { CreditLedger } from '../src/ports/ledger.ts';
import type { JobQueue } from '../src/ports/queue.ts';
import type { Store } from '../src/ports/store.ts';
import { type EngineWrite, type StoreWrite, writeInTransaction } from '../src/ports/write-all.ts';

const ENGINE = {};

function toEngineWrite(work: () => Promise<unknown>): EngineWrite {
  return { do: 'engine', engine: ENGINE, work, applied: () => undefined };
}

function isEngineWrite(write: StoreWrite): write is EngineWrite {
  return write.do === 'engine';
}

/** A store that writes in one step, also with the writes of `withEngineJobs`, `withEngineCharges` and `withEngineEvents`. */
export function withWriteAll(store: Store): Store {
  return {
    ...store,
    async writeAll(writes) {
      const records = writes.filter((write) => !isEngineWrite(write));
      if (!(await writeInTransaction(store, records))) return false;
      for (const write of writes.filter(isEngineWrite)) {
        await (write.work as () => Promise<unknown>)();
        write.applied();
      }
      return true;
    },
  };
}

/** A queue on the engine of `withWriteAll`. */
export function withEngineJobs(queue: JobQueue): JobQueue {
  return {
    ...queue,
    writes: {
      enqueue: (job) => toEngineWrite(() => queue.enqueue(job)),
      finish: (job) => toEngineWrite(() => queue.finish(job)),
    },
  };
}

/** A ledger on the engine of `withWriteAll`. */
export function withEngineCharges(ledger: CreditLedger): CreditLedger {
  return {
    ...ledger,
    toSettlement: (hold, ...more) => toEngineWrite(() => ledger.settle(hold, ...more)),
  };
}

/** An event log on the engine of `withWriteAll`. */
export function withEngineEvents(eventLog: EventLog): EventLog {
  return {
    ...eventLog,
    toAppend: (stream, batch) => toEngineWrite(() => eventLog.append(stream, batch)),
  };
}
