import { holdCredit, type ReservationServices } from '../credits/reservations.ts';
import type { Intake } from '../engine/intake.ts';
import { isApiError, notFound } from '../errors.ts';
import type { FileLibrary } from '../files/library.ts';
import { decodeCursor, encodeCursor, pageOf } from '../http/cursor.ts';
import type { Idempotency } from '../idempotency.ts';
import type { PipelineServices } from '../pipeline.ts';
import type { JobQueue } from '../ports/queue.ts';
import type { Store } from '../ports/store.ts';
import type { QuestNotices } from '../quests/notices.ts';
import { defineRoute, type Route } from '../route.ts';
import { type AcceptGenerationServices, acceptGeneration } from './accept.ts';
import { generationJob } from './job.ts';
import type { GenerationKind, GenerationWork } from './kind.ts';
import { release } from './money.ts';
import { MUSIC } from './music.ts';
import { CANCELLABLE, GENERATIONS, type GenerationRecord, visibleTo } from './records.ts';
import { VIDEO } from './video.ts';
import { toWireGeneration } from './wire.ts';

export interface GenerationServices
  extends PipelineServices,
    ReservationServices,
    Omit<AcceptGenerationServices, 'clock'> {
  readonly store: Store;
  readonly queue: JobQueue;
  readonly intake: Intake;
  readonly idempotency: Idempotency;
  readonly library: FileLibrary;
  readonly notices: QuestNotices;
  readonly worker: { readonly leaseMs: number };
}

const CANCELLED = { code: 'cancelled', message: 'This generation was cancelled.' } as const;

/** All of `/api/v1/video-models`, `video-generations`, `music-models` and `music-generations`. */
export function generationRoutes(services: GenerationServices): Route[] {
  return [...routesOf(services, VIDEO), ...routesOf(services, MUSIC)];
}

function routesOf<Body extends { readonly model: string }>(
  services: GenerationServices,
  kind: GenerationKind<Body>,
): Route[] {
  return [
    createListGenerationModelsHandler(services, kind),
    createCreateGenerationHandler(services, kind),
    createListGenerationsHandler(services, kind),
    createGetGenerationHandler(services, kind),
    createCancelGenerationHandler(services, kind),
  ];
}

/** `GET /api/v1/video-models`, `GET /api/v1/music-models` */
function createListGenerationModelsHandler<Body>(
  services: GenerationServices,
  { operations, serves, toWireModel }: GenerationKind<Body>,
): Route {
  return defineRoute(operations.models, services, async (_input, { caller }) => ({
    models: (await services.catalogueOf(caller.userId)).list().filter(serves).map(toWireModel),
  }));
}

/** `POST /api/v1/video-generations`, `POST /api/v1/music-generations` */
function createCreateGenerationHandler<Body extends { readonly model: string }>(
  services: GenerationServices,
  kind: GenerationKind<Body>,
): Route {
  const { create } = kind.operations;
  const generations = services.store.collection(GENERATIONS);
  return defineRoute(create, services, async (input, call) => {
    services.intake.admit();
    const body = input.body as Body;
    const { answer, isRepeatable } = await services.idempotency.accept(
      { call, path: create.path, body },
      () => acceptGeneration(services, kind, body, call),
    );
    const record = await generations.get(answer.id, { state: { in: ['reserving', 'pending'] } });
    if (record !== undefined) await begin(services, kind, record, isRepeatable);
    return answer;
  });
}

/**
 * Holds the credit, and has the work done. Of requests under one `Idempotency-Key` any may come here, the first one or
 * those that repeat it: the hold's key is the generation's, so that all of them hold the same credit.
 */
async function begin(
  services: GenerationServices,
  kind: GenerationWork,
  record: GenerationRecord,
  isRepeatable: boolean,
): Promise<void> {
  const generations = services.store.collection(GENERATIONS);
  const { id, payer, model, requestId, reserved: amount } = record;
  if (record.state === 'reserving') {
    const { operation } = kind;
    const hold =
      record.prices === undefined
        ? undefined
        : await holdCredit(services, { key: id, payer, amount, operation, model, requestId }).catch(
            async (error: unknown) => {
              // A repeated request may find credit where the first one found none.
              if (isApiError(error) && !isRepeatable) await generations.take(id, { state: 'reserving' });
              throw error;
            },
          );
    const tendAt = services.clock.now() + services.worker.leaseMs;
    const patch = { state: 'pending', tendAt, ...(hold !== undefined && { hold }) } as const;
    await generations.update(id, patch, { state: 'reserving' });
  }
  try {
    await services.queue.enqueue(generationJob(kind, id));
  } catch (error) {
    // Who is told that it failed asks again, and is not to pay for both.
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
  const generations = services.store.collection(GENERATIONS);
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
    const page = pageOf(
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
  const generations = services.store.collection(GENERATIONS);
  return defineRoute(get, services, async ({ params }, { caller, mountPath }) => {
    const record = await generations.get(params.id, visibleTo(caller.userId, kind.kind));
    if (record === undefined) throw notFound(get.subject ?? kind.kind);
    return toWireGeneration(services, kind, record, mountPath);
  });
}

/** `POST /api/v1/video-generations/{id}/cancel`, `POST /api/v1/music-generations/{id}/cancel` */
function createCancelGenerationHandler<Body>(
  services: GenerationServices,
  kind: GenerationKind<Body>,
): Route {
  const { cancel } = kind.operations;
  const { clock, notices } = services;
  const generations = services.store.collection(GENERATIONS);
  return defineRoute(cancel, services, async ({ params }, { caller, mountPath }) => {
    const own = visibleTo(caller.userId, kind.kind);
    const cancelled = await generations.update(
      params.id,
      { state: 'cancelled', error: CANCELLED, tendAt: undefined, updatedAt: clock.now() },
      { ...own, state: CANCELLABLE },
    );
    if (cancelled !== undefined) {
      // Whoever works on it hears of it, and tells the provider.
      notices.stopped(cancelled.id);
      await release(services, kind.operation, cancelled);
    }
    const record = cancelled ?? (await generations.get(params.id, own));
    if (record === undefined) throw notFound(cancel.subject ?? kind.kind);
    return toWireGeneration(services, kind, record, mountPath);
  });
}
