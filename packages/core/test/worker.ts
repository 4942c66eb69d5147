import { setImmediate as turn } from 'node:timers/promises';
import { createFakeClock, createFakeIds, type FakeClock } from '@questline/testing';
import type { JobHandler } from '../src/jobs/handler.ts';
import { createStoreQueue } from '../src/jobs/store-queue.ts';
import { createWorker, type Worker } from '../src/jobs/worker.ts';
import { createMemoryQueue } from '../src/memory/queue.ts';
import { createMemoryStore } from '../src/memory/store.ts';
import type { JobQueue } from '../src/ports/queue.ts';

export const LEASE_MS = 60_000;

export type CreateQueue = (clock: FakeClock) => JobQueue;

export const QUEUES: readonly (readonly [name: string, create: CreateQueue])[] = [
  ['memory queue', (clock) => createMemoryQueue({ clock, ids: createFakeIds() })],
  ['store queue', (clock) => createStoreQueue({ store: createMemoryStore(), clock, ids: createFakeIds() })],
];

export type Run = JobHandler['run'];

/** A worker on a queue of its own. `ran`: the payloads in the order of their starts. */
export function setUp(
  createQueue: CreateQueue,
  run: Run,
  concurrency: Record<string, number> = { work: 4 },
  leaseMsByKind: Record<string, number> = {},
  maxPerOwner: Record<string, number> = {},
): { clock: FakeClock; queue: JobQueue; worker: Worker; ran: unknown[]; incidents: string[] } {
  const clock = createFakeClock();
  const queue = createQueue(clock);
  const ran: unknown[] = [];
  const incidents: string[] = [];
  const worker = createWorker({
    queue,
    clock,
    settings: { leaseMs: LEASE_MS, pollMs: 1000, concurrency, maxPerOwner },
    onError: ({ operation }) => incidents.push(operation),
    handlers: Object.keys(concurrency).map((kind) => ({
      kind,
      concurrency: 1,
      ...(leaseMsByKind[kind] !== undefined && { leaseMs: leaseMsByKind[kind] }),
      run: (job, signal, extendLease) => {
        ran.push(job.payload);
        return run(job, signal, extendLease);
      },
    })),
  });
  return { clock, queue, worker, ran, incidents };
}

/** Runs everything that is ready. */
export async function turns(count = 10): Promise<void> {
  for (let index = 0; index < count; index += 1) await turn();
}
