import type { Client, QuestlineError } from '@questline/client';
import { attempt, isNotFound, toError } from './error.ts';
import type { KindRules } from './generation-kinds.ts';
import { type Attachable, createState } from './state.ts';
import type { Memory } from './storage.ts';

export interface GenerationState<Job> {
  /** `starting`: not accepted yet. `failed`: `error` says why. */
  readonly status: 'idle' | 'starting' | 'running' | 'done' | 'failed' | 'stopped';
  /** From 0 to 1. Undefined: unknown. */
  readonly progress: number | undefined;
  /** The results. Valid for 15 minutes. */
  readonly urls: readonly string[];
  /** The job as the API returns it. */
  readonly job: Job | undefined;
  readonly error: QuestlineError | undefined;
}

export interface GenerationStore<Request, Job> extends Attachable<GenerationState<Job>> {
  start(request: Request): Promise<boolean>;
  cancel(): Promise<void>;
  reset(): void;
}

export interface GenerationStoreOptions<Request, Job> {
  readonly rules: KindRules<Request, Job>;
  /** Contains the id of the job. */
  readonly memory: Memory<string>;
  readonly onEnd: () => void;
}

const IDLE = { status: 'idle', progress: undefined, urls: [], job: undefined, error: undefined } as const;

export function createGeneration<Request, Job>(
  client: Client,
  { rules, memory, onEnd }: GenerationStoreOptions<Request, Job>,
): GenerationStore<Request, Job> {
  const state = createState<GenerationState<Job>>(IDLE);
  let attached = AbortSignal.abort();
  let id: string | undefined;
  let isCancelled = false;

  const read = async (signal: AbortSignal): Promise<void> => {
    const job = id;
    if (job === undefined || signal.aborted) return;
    state.update({ status: 'running' });
    try {
      for await (const next of rules.follow(client, job, signal)) {
        if (job !== id) return;
        state.update({ job: next, progress: rules.getProgress(next), urls: rules.getUrls(next) });
      }
      const { job: last } = state.get();
      if (last === undefined) return;
      state.update({ status: rules.getOutcome(last), error: rules.getError(last) });
      onEnd();
    } catch (error) {
      if (signal.aborted || job !== id) return;
      if (isNotFound(error)) memory.save(undefined);
      state.update({ status: 'failed', error: toError(error) });
    }
  };

  const cancel = async (): Promise<void> => {
    const { status } = state.get();
    if (status === 'starting') isCancelled = true;
    if (id === undefined || status !== 'running') return;
    await attempt(rules.cancel(client, id), (error) => state.update({ error }));
  };

  const isBusy = (): boolean => ['starting', 'running'].includes(state.get().status);

  return {
    state,
    cancel,
    attach() {
      const controller = new AbortController();
      attached = controller.signal;
      id ??= memory.load();
      if (state.get().status === 'idle' || state.get().status === 'running') void read(attached);
      return () => controller.abort();
    },
    async start(request) {
      if (isBusy()) return false;
      isCancelled = false;
      state.set({ ...IDLE, status: 'starting' });
      try {
        ({ id } = await rules.start(client, request));
      } catch (error) {
        state.update({ status: 'failed', error: toError(error) });
        return false;
      }
      memory.save(id);
      state.update({ status: 'running' });
      if (isCancelled) await cancel();
      void read(attached);
      return true;
    },
    reset() {
      if (isBusy()) return;
      id = undefined;
      memory.save(undefined);
      state.set(IDLE);
    },
  };
}
