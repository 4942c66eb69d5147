import type { JobQueue, LeasedJob } from '../ports/queue.ts';
import type { Json } from '../ports/store.ts';
import type { Observer } from './observer.ts';

/** Beside a job's own fields. */
const CARRIED = '$carried';

type Fields = Readonly<Record<string, Json | undefined>>;

/** A job with what it carries taken out of its payload. */
interface CarryingJob extends LeasedJob {
  readonly carried: Readonly<Record<string, string>>;
}

/** A queue whose jobs carry what is to be known again when they run. */
export function carryingQueue(queue: JobQueue, carry: NonNullable<Observer['carry']>): JobQueue {
  return {
    enqueue(job, options) {
      const carried = carry();
      const { payload } = job;
      if (carried === undefined || Object.keys(carried).length === 0 || !isObject(payload)) {
        return queue.enqueue(job, options);
      }
      return queue.enqueue({ ...job, payload: { ...payload, [CARRIED]: carried } }, options);
    },
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

/** What a job was given to carry, by this process or another. */
export function carriedBy(job: LeasedJob): Readonly<Record<string, string>> {
  return 'carried' in job ? (job as CarryingJob).carried : {};
}

function unpacked(job: LeasedJob): LeasedJob | CarryingJob {
  if (!isObject(job.payload)) return job;
  const { [CARRIED]: carried, ...payload } = job.payload;
  if (carried === undefined || carried === null || !isObject(carried)) return job;
  const texts = Object.entries(carried).filter(
    (entry): entry is [string, string] => typeof entry[1] === 'string',
  );
  return { ...job, payload, carried: Object.fromEntries(texts) };
}

function isObject(value: Json): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
