import type { Clock } from '../ports/clock.ts';
import type { JobQueue, LeasedJob } from '../ports/queue.ts';
import { JobInterrupted } from './interruption.ts';

/** A running job with its lease. */
export interface HeldLease {
  readonly job: LeasedJob;
  readonly interruption: AbortController;
  leaseMs: number;
  leaseUntil: number;
  /** Time of the next renewal: after a third of the lease. */
  renewAt: number;
  /** Serializes renewals; the last requested one counts. */
  renewing: Promise<unknown>;
}

/** Renews the leases of the running jobs of one worker. */
export interface LeaseRenewal {
  /** Starts the lease of a job that was just taken. */
  enter(job: LeasedJob, leaseMs: number): HeldLease;
  /** Extends a lease, and rejects if it is lost. */
  extend(lease: HeldLease, leaseMs: number): Promise<void>;
  /** Renews every lease that needs it before the next call, `beatMs` later. */
  renewAll(leases: Iterable<HeldLease>): void;
}

export function createLeaseRenewal(services: {
  readonly queue: JobQueue;
  readonly clock: Clock;
  readonly beatMs: number;
  readonly report: (kind: string, error: unknown) => void;
}): LeaseRenewal {
  const { queue, clock, beatMs, report } = services;

  const renew = (lease: HeldLease): Promise<void> => {
    const { job, leaseMs, interruption } = lease;
    lease.renewAt = clock.now() + leaseMs / 3;
    const renewed = lease.renewing.then(async () => {
      const leaseUntil = clock.now() + leaseMs;
      if (await queue.renew(job, leaseMs)) lease.leaseUntil = leaseUntil;
      else interruption.abort(new JobInterrupted('lease-lost'));
    });
    lease.renewing = renewed.catch(() => undefined);
    return renewed;
  };

  return {
    enter: (job, leaseMs) => ({
      job,
      interruption: new AbortController(),
      leaseMs,
      leaseUntil: job.leaseUntil,
      renewAt: clock.now() + leaseMs / 3,
      renewing: Promise.resolve(),
    }),
    async extend(lease, leaseMs) {
      lease.leaseMs = leaseMs;
      await renew(lease);
      lease.interruption.signal.throwIfAborted();
    },
    renewAll(leases) {
      const nextBeat = clock.now() + beatMs;
      for (const lease of leases) {
        if (nextBeat <= lease.renewAt) continue;
        renew(lease).catch((error: unknown) => {
          report(lease.job.kind, error);
          if (lease.leaseUntil <= clock.now()) lease.interruption.abort(new JobInterrupted('lease-lost'));
        });
      }
    },
  };
}
