import type { JobQueue, LeasedJob, NewJob } from '../ports/queue.ts';
import type { Json } from '../ports/store.ts';
import type { Observer } from './observer.ts';

/** The payload field of the context, next to the job's fields. */
const CONTEXT_FIELD = '$carried';

type Fields = Readonly<Record<string, Json | undefined>>;

/** Separates the context from the payload of a job. */
interface CarryingJob extends LeasedJob {
  readonly carried: Readonly<Record<string, string>>;
}

/** Wraps a queue so that its jobs contain the current trace context. */
export function propagateContext(
  queue: JobQueue,
  getTraceContext: NonNullable<Observer['getTraceContext']>,
): JobQueue {
  const addContext = (job: NewJob): NewJob => {
    const carried = getTraceContext();
    const { payload } = job;
    if (carried === undefined || Object.keys(carried).length === 0 || !isObject(payload)) return job;
    return { ...job, payload: { ...payload, [CONTEXT_FIELD]: carried } };
  };
  const { writes } = queue;
  const enqueueLeased = writes?.enqueueLeased?.bind(writes);
  return {
    enqueue: (job, options) => queue.enqueue(addContext(job), options),
    ...(writes !== undefined && {
      writes: {
        enqueue: (job) => writes.enqueue(addContext(job)),
        ...(enqueueLeased !== undefined && {
          enqueueLeased(job, leaseMs) {
            const leased = enqueueLeased(addContext(job), leaseMs);
            return { ...leased, job: unpacked(leased.job) };
          },
        }),
        finish: (job) => writes.finish(job),
      },
    }),
    async lease(want, options) {
      const jobs = await queue.lease(want, options);
      return jobs.map(unpacked);
    },
    renew: (job, leaseMs, options) => queue.renew(job, leaseMs, options),
    finish: (job, options) => queue.finish(job, options),
    retry: (job, back, options) => queue.retry(job, back, options),
    onReady: (listener) => queue.onReady(listener),
    counts: (options) => queue.counts(options),
  };
}

/** Returns the stored context of a job. */
export function carriedBy(job: LeasedJob): Readonly<Record<string, string>> {
  return 'carried' in job ? (job as CarryingJob).carried : {};
}

function unpacked(job: LeasedJob): LeasedJob | CarryingJob {
  if (!isObject(job.payload)) return job;
  const { [CONTEXT_FIELD]: carried, ...payload } = job.payload;
  if (carried === undefined || !isObject(carried)) return job;
  const texts = Object.entries(carried).filter(
    (entry): entry is [string, string] => typeof entry[1] === 'string',
  );
  return { ...job, payload, carried: Object.fromEntries(texts) };
}

function isObject(value: Json): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
