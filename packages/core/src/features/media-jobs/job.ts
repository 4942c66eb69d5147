import type { ExtendLease, JobHandler } from '../../jobs/handler.ts';
import { isProviderError } from '../../ports/models.ts';
import type { LeasedJob, NewJob, Reschedule } from '../../ports/queue.ts';
import type { RunningQuest, RunningQuests } from '../../runs/running.ts';
import { callProvider } from './ask-provider.ts';
import type { GenerationWork } from './kind.ts';
import { MUSIC } from './music.ts';
import { withProviderTimeout } from './provider-timeout.ts';
import { type GenerationRecord, hasEnded } from './records.ts';
import { createResultStorage, type StoringServices } from './result-storage.ts';
import { getGenerations } from './stored.ts';
import { type AskServices, createSubmission } from './submission.ts';
import { BLOCKED, createTermination, FAILED, GONE, TOO_LONG, toFailure } from './termination.ts';
import { VIDEO } from './video.ts';

/**
 * Each run of the job polls once, and reschedules itself after a pause: no worker is blocked in between, so that
 * a few workers handle any number of generations. @see docs/decisions/generations.md
 */
export interface GenerationJobServices extends AskServices, StoringServices {
  readonly worker: { readonly leaseMs: number };
}

const CONCURRENCY = 32;
/** Poll timeout, milliseconds. */
const LOOK_MS = 60_000;
/** Minimum lease, milliseconds, for any poll interval: a process that is busy for a moment is not considered crashed. */
const MIN_LEASE_MS = 1000;

export function generationJob(
  { job }: Pick<GenerationWork, 'job'>,
  { id, ownerId: owner }: Pick<GenerationRecord, 'id' | 'ownerId'>,
): NewJob {
  return { kind: job, key: `generation:${id}`, owner, payload: { generationId: id } };
}

/** Executes video and music generations. */
export function createGenerationHandlers(
  services: GenerationJobServices,
  runningQuests: RunningQuests,
): JobHandler[] {
  return [createJobHandler(services, runningQuests, VIDEO), createJobHandler(services, runningQuests, MUSIC)];
}

function createJobHandler(
  services: GenerationJobServices,
  runningQuests: RunningQuests,
  kind: GenerationWork,
): JobHandler {
  const { clock, generations: settings } = services;
  const generations = getGenerations(services.store);
  const termination = createTermination(services, kind);
  const resultStorage = createResultStorage(services, kind, termination);
  const submission = createSubmission(services, termination, resultStorage);

  const proceed = (
    record: GenerationRecord,
    job: LeasedJob,
    running: RunningQuest,
    extendLease: ExtendLease,
  ): Promise<Reschedule | undefined> => {
    const { step } = record;
    if (step === undefined) return submission.ask(record, job, running, extendLease);
    switch (step) {
      case 'submitting':
        return submission.failInterrupted(record);
      case 'submitted':
        return look(record, running.signal);
      case 'made':
        return resultStorage.fetch(record, running.signal);
      case 'kept':
        return resultStorage.conclude(record);
    }
  };

  const look = async (record: GenerationRecord, signal: AbortSignal): Promise<Reschedule | undefined> => {
    const { id, providerJobId, provider } = record;
    const jobs = (await termination.getSubmission(record))?.jobs;
    if (jobs === undefined || providerJobId === undefined) return termination.fail(record, GONE);
    const status = await withProviderTimeout(clock, LOOK_MS, signal, async (inner) =>
      callProvider(services, await termination.getCircuit(record), inner, () =>
        jobs.poll(providerJobId, { signal: inner }),
      ),
    ).catch((error: unknown) => {
      signal.throwIfAborted();
      termination.report(record, error);
      return { state: 'unknown', error } as const;
    });
    const asWas = { state: 'running', step: 'submitted' } as const;
    switch (status.state) {
      case 'unknown': {
        // The provider rejects the request for good. Every other error may be temporary; new work may not be
        // visible on all of the provider's servers yet (404).
        const { kind, httpStatus } = isProviderError(status.error)
          ? { kind: status.error.kind, httpStatus: status.error.status }
          : { kind: 'failed', httpStatus: undefined };
        const isFinal = kind === 'content_blocked' || (kind === 'invalid_request' && httpStatus !== 404);
        return isFinal
          ? termination.fail(record, toFailure(status.error), asWas)
          : again(record, providerJobId);
      }
      case 'waiting':
      case 'running': {
        const progress = sane(status.progress);
        if (progress !== undefined && progress !== record.progress) {
          const updated = await generations.update(id, { progress, updatedAt: clock.now() }, asWas);
          if (updated === undefined) return termination.resolveConflict(id);
        }
        return again(record, providerJobId);
      }
      case 'failed':
      case 'blocked':
        termination.report(record, new Error(`${provider}: ${status.message}`));
        return termination.fail(record, status.state === 'blocked' ? BLOCKED : FAILED, asWas);
      case 'done': {
        const seconds = status.durationSeconds;
        const made = await generations.update(
          id,
          {
            state: 'storing',
            step: 'made',
            result: status.output,
            ...(seconds !== undefined && seconds > 0 && { resultSeconds: seconds }),
            updatedAt: clock.now(),
          },
          asWas,
        );
        return made === undefined ? termination.resolveConflict(id) : resultStorage.fetch(made, signal);
      }
    }
  };

  /** Reschedules after the poll interval, unless the generation has timed out. */
  const again = async (record: GenerationRecord, providerJobId: string): Promise<Reschedule | undefined> => {
    if (clock.now() - (record.submittedAt ?? record.createdAt) < settings.maxMs) {
      return { afterMs: settings.pollMs, countAttempt: false };
    }
    await termination.fail(record, TOO_LONG, { state: 'running', step: 'submitted' });
    // Cancels at the provider only what has ended: another worker may be fetching its result.
    return termination.resolveConflict(record.id, { providerJobId });
  };

  return {
    kind: kind.job,
    concurrency: CONCURRENCY,
    // After a crash during a poll, the next poll is delayed by no more than one interval.
    leaseMs: Math.min(services.worker.leaseMs, Math.max(settings.pollMs, MIN_LEASE_MS)),
    async run(job, interruption, extendLease) {
      const { generationId } = job.payload as { generationId: string };
      const record = await generations.get(generationId);
      if (record === undefined || record.state === 'reserving') return undefined;
      if (hasEnded(record)) return termination.cleanUp(record);
      const running = runningQuests.enter(record.id, interruption);
      try {
        return await proceed(record, job, running, extendLease);
      } catch (error) {
        switch (running.interruption()) {
          case 'stopped':
            return termination.resolveConflict(record.id);
          case 'lease-lost':
            return undefined;
          case 'stopping':
            return { afterMs: 0, countAttempt: false };
          case undefined:
            throw error;
        }
      } finally {
        running.remove();
      }
    },
  };
}

function sane(progress: number | undefined): number | undefined {
  return progress === undefined || Number.isNaN(progress) ? undefined : Math.min(1, Math.max(0, progress));
}
