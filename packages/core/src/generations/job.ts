import type { JobHandler, Prolong, RunAgain } from '../engine/worker.ts';
import { askOnce } from '../media/asking.ts';
import { isProviderError } from '../ports/models.ts';
import type { LeasedJob, NewJob } from '../ports/queue.ts';
import type { RunningQuest, RunningQuests } from '../quests/running.ts';
import { type AskServices, createAsking } from './asking.ts';
import { BLOCKED, createEnds, FAILED, failureOf, GONE, TOO_LONG } from './ends.ts';
import type { GenerationWork } from './kind.ts';
import { MUSIC } from './music.ts';
import { GENERATIONS, type GenerationRecord, hasEnded } from './records.ts';
import { createStoring, type StoringServices } from './storing.ts';
import { VIDEO } from './video.ts';
import { within } from './within.ts';

/**
 * One run of a job is one look at the work, and the next one is due after a pause: nobody waits with it meanwhile, so
 * that a few workers look after any number of generations. @see docs/decisions/generations.md
 */
export interface GenerationJobServices extends AskServices, StoringServices {
  readonly worker: { readonly leaseMs: number };
}

const CONCURRENCY = 32;
/** So long a provider may take to say how far it is. */
const LOOK_MS = 60_000;
/** However often a provider is asked: a process that is busy for a moment has not vanished. */
const LEAST_LEASE_MS = 1000;

export function generationJob({ job }: Pick<GenerationWork, 'job'>, id: string): NewJob {
  return { kind: job, key: `generation:${id}`, payload: { generationId: id } };
}

/** Has films and music made. */
export function createGenerationHandlers(
  services: GenerationJobServices,
  runningQuests: RunningQuests,
): JobHandler[] {
  return [handlerOf(services, runningQuests, VIDEO), handlerOf(services, runningQuests, MUSIC)];
}

function handlerOf(
  services: GenerationJobServices,
  runningQuests: RunningQuests,
  kind: GenerationWork,
): JobHandler {
  const { clock, generations: settings } = services;
  const generations = services.store.collection(GENERATIONS);
  const ends = createEnds(services, kind);
  const storing = createStoring(services, kind, ends);
  const asking = createAsking(services, ends, storing);

  const proceed = (
    record: GenerationRecord,
    job: LeasedJob,
    running: RunningQuest,
    prolong: Prolong,
  ): Promise<RunAgain | undefined> => {
    const { step } = record;
    if (step === undefined) return asking.ask(record, job, running, prolong);
    switch (step) {
      case 'submitting':
        return asking.lost(record);
      case 'submitted':
        return look(record, running.signal);
      case 'made':
        return storing.fetch(record, running.signal);
      case 'kept':
        return storing.conclude(record);
    }
  };

  const look = async (record: GenerationRecord, signal: AbortSignal): Promise<RunAgain | undefined> => {
    const { id, providerJobId, provider } = record;
    const jobs = (await ends.makingOf(record))?.jobs;
    if (jobs === undefined || providerJobId === undefined) return ends.fail(record, GONE);
    const status = await within(clock, LOOK_MS, signal, (inner) =>
      askOnce(services, provider, inner, () => jobs.poll(providerJobId, { signal: inner })),
    ).catch((error: unknown) => {
      signal.throwIfAborted();
      ends.report(record, error);
      return { state: 'unknown', error } as const;
    });
    const asWas = { state: 'running', step: 'submitted' } as const;
    switch (status.state) {
      case 'unknown': {
        // It knows of no such work, or wants nothing to do with it. All else may be better the next time.
        const kindOf = isProviderError(status.error) ? status.error.kind : 'failed';
        const isFinal = kindOf === 'invalid_request' || kindOf === 'content_blocked';
        return isFinal ? ends.fail(record, failureOf(status.error), asWas) : again(record);
      }
      case 'waiting':
      case 'running': {
        const progress = sane(status.progress);
        if (progress !== undefined && progress !== record.progress) {
          const told = await generations.update(id, { progress, updatedAt: clock.now() }, asWas);
          if (told === undefined) return ends.moved(id);
        }
        return again(record);
      }
      case 'failed':
      case 'blocked':
        ends.report(record, new Error(`${provider}: ${status.message}`));
        return ends.fail(record, status.state === 'blocked' ? BLOCKED : FAILED, asWas);
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
        return made === undefined ? ends.moved(id) : storing.fetch(made, signal);
      }
    }
  };

  /** After a pause, unless it has lasted for too long. */
  const again = async (record: GenerationRecord): Promise<RunAgain | undefined> => {
    if (clock.now() - (record.askedAt ?? record.createdAt) < settings.maxMs) {
      return { afterMs: settings.pollMs, countAttempt: false };
    }
    await ends.fail(record, TOO_LONG, { state: 'running', step: 'submitted' });
    await ends.cancelAtProvider(record);
    return undefined;
  };

  return {
    kind: kind.job,
    concurrency: CONCURRENCY,
    // Whoever dies at a look has the next one delayed by no more than a pause.
    leaseMs: Math.min(services.worker.leaseMs, Math.max(settings.pollMs, LEAST_LEASE_MS)),
    async run(job, interruption, prolong) {
      const { generationId } = job.payload as { generationId: string };
      const record = await generations.get(generationId);
      if (record === undefined || record.state === 'reserving') return undefined;
      if (hasEnded(record)) return ends.putAway(record);
      const running = runningQuests.enter(record.id, interruption);
      try {
        return await proceed(record, job, running, prolong);
      } catch (error) {
        switch (running.brokenOff) {
          case 'stopped':
            return ends.moved(record.id);
          case 'lease-lost':
            return undefined;
          case 'stopping':
            return { afterMs: 0, countAttempt: false };
          case undefined:
            throw error;
        }
      } finally {
        running.leave();
      }
    },
  };
}

function sane(progress: number | undefined): number | undefined {
  return progress === undefined || Number.isNaN(progress) ? undefined : Math.min(1, Math.max(0, progress));
}
