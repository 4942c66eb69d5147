import { decodeCursor, encodeCursor, toPage } from '../../contract/cursor.ts';
import { holdCredit, type ReservationServices } from '../../credits/reservations.ts';
import { orderByPrice } from '../../models/default-model.ts';
import type { AdmissionControl } from '../../operations/admission-control.ts';
import type { Idempotency } from '../../operations/idempotency.ts';
import type { PipelineServices } from '../../operations/pipeline.ts';
import { defineRoute, type Route } from '../../operations/route.ts';
import type { JobQueue } from '../../ports/queue.ts';
import type { Store } from '../../ports/store.ts';
import type { QuestEvents } from '../../runs/quest-events.ts';
import { replyWithStates, type StateReaderServices } from '../../runs/state-reader.ts';
import type { WorkLine } from '../../runs/work-line.ts';
import { isApiError, notFound } from '../../shared/errors.ts';
import type { FileLibrary } from '../files/library.ts';
import { type AcceptGenerationServices, acceptGeneration } from './accept.ts';
import { cancelGeneration } from './cancellation.ts';
import { generationJob } from './job.ts';
import type { GenerationKind, GenerationWork } from './kind.ts';
import { release } from './money.ts';
import { MUSIC } from './music.ts';
import { type GenerationRecord, hasEnded, visibleTo } from './records.ts';
import { getGenerations } from './stored.ts';
import { VIDEO } from './video.ts';
import { toWireGeneration } from './wire.ts';

export interface GenerationServices
  extends PipelineServices,
    ReservationServices,
    StateReaderServices,
    Omit<AcceptGenerationServices, 'clock'> {
  readonly store: Store;
  readonly queue: JobQueue;
  readonly admissionControl: AdmissionControl;
  readonly workLine: WorkLine;
  readonly idempotency: Idempotency;
  readonly library: FileLibrary;
  readonly questEvents: QuestEvents;
  readonly worker: { readonly leaseMs: number };
}

/** All handlers of `/api/v1/video-models`, `video-generations`, `music-models` and `music-generations`. */
export function generationRoutes(services: GenerationServices): Route[] {
  return [...createRoutes(services, VIDEO), ...createRoutes(services, MUSIC)];
}

function createRoutes<Body extends { readonly model: string }>(
  services: GenerationServices,
  kind: GenerationKind<Body>,
): Route[] {
  return [
    createListGenerationModelsHandler(services, kind),
    createCreateGenerationHandler(services, kind),
    createListGenerationsHandler(services, kind),
    createGetGenerationHandler(services, kind),
    createCancelGenerationHandler(services, kind),
    createGenerationEventsHandler(services, kind),
  ];
}

/** `GET /api/v1/video-models`, `GET /api/v1/music-models` */
function createListGenerationModelsHandler<Body>(
  services: GenerationServices,
  { operations, serves, toWireModel }: GenerationKind<Body>,
): Route {
  return defineRoute(operations.models, services, async (_input, { caller }) => ({
    models: orderByPrice((await services.getCatalogue(caller)).list().filter(serves)).map(toWireModel),
  }));
}

/** `POST /api/v1/video-generations`, `POST /api/v1/music-generations` */
function createCreateGenerationHandler<Body extends { readonly model: string }>(
  services: GenerationServices,
  kind: GenerationKind<Body>,
): Route {
  const { create } = kind.operations;
  const generations = getGenerations(services.store);
  return defineRoute(create, services, async (input, call) => {
    services.admissionControl.admit();
    const body = input.body as Body;
    const admission = services.workLine.open(call.caller.userId);
    let isStored = false;
    try {
      const { answer, isRepeatable } = await services.idempotency.accept(
        { call, path: create.path, body },
        async () => {
          await admission.enter();
          return acceptGeneration(services, kind, body, call);
        },
      );
      const record = await generations.get(answer.id, { state: { in: ['reserving', 'pending'] } });
      if (record !== undefined) await begin(services, kind, record, isRepeatable);
      isStored = true;
      return answer;
    } finally {
      admission.end(isStored);
    }
  });
}

/**
 * Holds the credit, and enqueues the work. The first request of an `Idempotency-Key` or any repetition may run this:
 * the hold's key belongs to the generation, so that all of them hold the same credit.
 */
async function begin(
  services: GenerationServices,
  kind: GenerationWork,
  record: GenerationRecord,
  isRepeatable: boolean,
): Promise<void> {
  const generations = getGenerations(services.store);
  const { id, payer, model, requestId, reserved: amount } = record;
  if (record.state === 'reserving') {
    const { operation } = kind;
    const metered = record.prices !== undefined;
    const isOwnKey = record.ownKey === true;
    const request = { key: id, payer, amount, operation, model, requestId, metered, isOwnKey };
    const hold = await holdCredit(services, request).catch(async (error: unknown) => {
      // A repeated request may find credit although the first request found none.
      if (isApiError(error) && !isRepeatable) await generations.take(id, { state: 'reserving' });
      throw error;
    });
    const nextCheckAt = services.clock.now() + services.worker.leaseMs;
    const patch = { state: 'pending', nextCheckAt, ...(hold !== undefined && { hold }) } as const;
    await generations.update(id, patch, { state: 'reserving' });
  }
  try {
    await services.queue.enqueue(generationJob(kind, record));
  } catch (error) {
    // After an error response the client retries, and must not pay for both.
    if (!isRepeatable) {
      const withdrawn = await generations.take(id, { state: 'pending' });
      if (withdrawn !== undefined) await release(services, kind.operation, withdrawn);
    }
    throw error;
  }
}

/** `GET /api/v1/video-generations`, `GET /api/v1/music-generations` */
function createListGenerationsHandler<Body>(services: GenerationServices, kind: GenerationKind<Body>): Route {
  const { list } = kind.operations;
  const generations = getGenerations(services.store);
  return defineRoute(list, services, async ({ query }, { caller, mountPath }) => {
    const { limit, cursor, state, source } = query;
    const ownerId = caller.userId;
    const after = decodeCursor(list.id, ownerId, cursor);
    const rows = await generations.find(
      {
        ...visibleTo(ownerId, kind.kind),
        ...(state !== undefined && { state }),
        ...(source !== undefined && { source }),
      },
      {
        order: { field: 'createdAt', direction: 'desc' },
        limit: limit + 1,
        ...(after !== undefined && { after }),
      },
    );
    const page = toPage(
      rows,
      limit,
      (row) => toWireGeneration(services, kind, row, mountPath),
      ({ id, createdAt }) => encodeCursor(list.id, ownerId, { value: createdAt, id }),
    );
    return { ...page, data: await Promise.all(page.data) };
  });
}

/** `GET /api/v1/video-generations/{id}`, `GET /api/v1/music-generations/{id}` */
function createGetGenerationHandler<Body>(services: GenerationServices, kind: GenerationKind<Body>): Route {
  const { get } = kind.operations;
  const generations = getGenerations(services.store);
  return defineRoute(get, services, async ({ params }, { caller, mountPath }) => {
    const record = await generations.get(params.id, visibleTo(caller.userId, kind.kind));
    if (record === undefined) throw notFound(get.subject ?? kind.kind);
    return toWireGeneration(services, kind, record, mountPath);
  });
}

/** `GET /api/v1/video-generations/{id}/events`, `GET /api/v1/music-generations/{id}/events` */
function createGenerationEventsHandler<Body>(
  services: GenerationServices,
  kind: GenerationKind<Body>,
): Route {
  const { events } = kind.operations;
  const generations = getGenerations(services.store);
  return defineRoute(events, services, ({ params, query }, call) =>
    replyWithStates(services, call, query.after, {
      id: params.id,
      async load() {
        const record = await generations.get(params.id, visibleTo(call.caller.userId, kind.kind));
        if (record === undefined) throw notFound(events.subject ?? kind.kind);
        const view = await toWireGeneration(services, kind, record, call.mountPath);
        return { view, version: record.updatedAt, isOver: hasEnded(record) };
      },
    }),
  );
}

/** `POST /api/v1/video-generations/{id}/cancel`, `POST /api/v1/music-generations/{id}/cancel` */
function createCancelGenerationHandler<Body>(
  services: GenerationServices,
  kind: GenerationKind<Body>,
): Route {
  const { cancel } = kind.operations;
  const generations = getGenerations(services.store);
  return defineRoute(cancel, services, async ({ params }, { caller, mountPath }) => {
    const own = visibleTo(caller.userId, kind.kind);
    const cancelled = await cancelGeneration(services, kind, params.id, own);
    const record = cancelled ?? (await generations.get(params.id, own));
    if (record === undefined) throw notFound(cancel.subject ?? kind.kind);
    return toWireGeneration(services, kind, record, mountPath);
  });
}
