import type { PipelineServices } from '../../../operations/pipeline.ts';
import { defineRoute, type Route } from '../../../operations/route.ts';
import { type LiveReaderServices, replyWithEvents } from '../../../runs/live-reader.ts';
import { notFound } from '../../../shared/errors.ts';
import { getCompletionEvents, type WireStoredCompletion } from './contract.ts';
import { failInterrupted, type InterruptedServices, isInterrupted } from './interrupted.ts';
import { STORED_COMPLETIONS, type StoredCompletion, toCompletionId } from './records.ts';

/** `GET /api/ai/v1/completions/{requestId}/events` */
export function createCompletionEventsHandler(
  services: PipelineServices & LiveReaderServices & InterruptedServices,
): Route {
  const { store, clock } = services;
  const completions = store.collection(STORED_COMPLETIONS);

  const find = async (id: string): Promise<StoredCompletion | undefined> => {
    const found = await completions.get(id);
    if (found === undefined || found.expiresAt <= clock.now()) return undefined;
    if (!isInterrupted(found, clock.now())) return found;
    return (await failInterrupted(services, found)) ?? completions.get(id);
  };

  return defineRoute(getCompletionEvents, services, ({ params, query }, call) => {
    const id = toCompletionId(call.caller.userId, params.requestId);
    return replyWithEvents(services, call, query.after, {
      stream: id,
      isEnded: async () => (await find(id))?.status !== 'running',
      async load() {
        const found = await find(id);
        if (found === undefined) throw notFound('Completion');
        return { view: toWire(found), text: found.text ?? '', isOver: found.status !== 'running' };
      },
    });
  });
}

function toWire({
  requestId,
  status,
  model,
  text,
  outcome,
  createdAt,
}: StoredCompletion): WireStoredCompletion {
  return {
    requestId,
    status,
    model,
    text: text ?? null,
    ...outcome,
    createdAt: new Date(createdAt).toISOString(),
  } as WireStoredCompletion;
}
