import type { Call } from '../../../contract/call.ts';
import type { Clock } from '../../../ports/clock.ts';
import type { Store } from '../../../ports/store.ts';
import { createLiveWriter, type LiveWriter, type LiveWriterServices } from '../../../runs/live-writer.ts';
import type { QuestEvents } from '../../../runs/quest-events.ts';
import { conflict } from '../../../shared/errors.ts';
import type { AskedCompletion, CompletionAnswer } from '../answer.ts';
import type { CompletionEncoder } from '../encoder.ts';
import { type AnswerWatch, type CompletionRunServices, streamCompletion } from '../run.ts';
import { createRecorder, type Recorder, type StoredEnd } from './recorder.ts';
import {
  HEARTBEAT_MS,
  KEEP_MS,
  STORED_COMPLETIONS,
  type StoredCompletion,
  toCompletionId,
} from './records.ts';
import { createRelay, type Relay } from './relay.ts';

export interface StoredRunServices extends CompletionRunServices, LiveWriterServices {
  readonly store: Store;
  readonly questEvents: QuestEvents;
  readonly catalogue: { readonly creditsPerUsd: number };
}

const TAKEN = 'A completion with this request id exists. Read its events, or send another `X-Request-ID`.';

/**
 * Streams an answer that continues when its client disconnects, and stores it under its request id.
 * @throws ApiError 409 for a request id that the caller has used; as `streamCompletion`, and nothing is stored.
 */
export async function streamStored(
  services: StoredRunServices,
  call: Call,
  asked: AskedCompletion,
  createEncoder: (answer: Pick<CompletionAnswer, 'entry'>) => CompletionEncoder,
  watch?: AnswerWatch,
): Promise<AsyncIterableIterator<string>> {
  const { store, clock, onError } = services;
  const { requestId, caller, request, mountPath } = call;
  const completions = store.collection(STORED_COMPLETIONS);
  const now = clock.now();
  const record: StoredCompletion = {
    id: toCompletionId(caller.userId, requestId),
    ownerId: caller.userId,
    requestId,
    status: 'running',
    model: asked.entry.info.id,
    createdAt: now,
    heartbeatAt: now,
    expiresAt: now + KEEP_MS,
  };
  if (!(await completions.insert(record))) {
    await watch?.onBreak(false);
    throw conflict(TAKEN);
  }
  const report = (error: unknown): void => onError({ operation: asked.operation, requestId, error });
  let recorder: Recorder | undefined;
  const live = createLiveWriter(services, {
    stream: record.id,
    fence: 1,
    getText: () => recorder?.text() ?? '',
    isHeld: async () => true,
    onError: report,
  });
  // The connection of the client does not matter to the answer.
  const { signal } = new AbortController();
  const detached: Call = { id: call.id, requestId, caller, request, mountPath, signal };
  try {
    const frames = await streamCompletion(
      services,
      detached,
      asked,
      (answer) => {
        recorder = createRecorder(createEncoder(answer), live, {
          getModel: () => answer.entry.info.id,
          creditsPerUsd: services.catalogue.creditsPerUsd,
        });
        return recorder;
      },
      watch,
    );
    const relay = createRelay();
    void pump(services, { record, frames, getEnd: () => recorder?.ended(), live, relay, report });
    return relay.frames;
  } catch (error) {
    await live.close();
    await completions.take(record.id).catch(report);
    throw error;
  }
}

interface Pumped {
  readonly record: StoredCompletion;
  readonly frames: AsyncIterableIterator<string>;
  getEnd(): StoredEnd | undefined;
  readonly live: LiveWriter;
  readonly relay: Relay;
  readonly report: (error: unknown) => void;
}

/** Reads an answer to its end. The last frames follow when the result is stored. Never rejects. */
async function pump(
  { store, clock, streams, questEvents }: StoredRunServices,
  { record: { id }, frames, getEnd, live, relay, report }: Pumped,
): Promise<void> {
  const completions = store.collection(STORED_COMPLETIONS);
  const isRunning = { status: 'running' } as const;
  // A shutdown stops the frames, and waits for their result.
  const open = { stop: () => undefined };
  const remove = streams.add(open);
  const stopBeating = repeat(clock, HEARTBEAT_MS, async () => {
    try {
      const found = await completions.update(id, { heartbeatAt: clock.now() }, isRunning);
      // Deleted with its owner.
      if (found === undefined) await frames.return?.();
    } catch (error) {
      report(error);
    }
  });
  try {
    for await (const text of frames) {
      const end = getEnd();
      if (end !== undefined) {
        stopBeating();
        await live.flush();
        await completions.update(id, { ...end }, isRunning).catch(report);
        questEvents.ended(id);
      }
      relay.push(text);
    }
  } catch (error) {
    report(error);
  } finally {
    stopBeating();
    relay.end();
    await live.close();
    remove();
  }
}

/** @returns a function that stops it. */
function repeat(clock: Clock, ms: number, act: () => Promise<void>): () => void {
  let isStopped = false;
  const next = (): (() => void) =>
    clock.timer(ms, () => {
      void act().then(() => {
        if (!isStopped) cancel = next();
      });
    });
  let cancel = next();
  return () => {
    isStopped = true;
    cancel();
  };
}
