import { findNumberedPage } from '../../operations/find-page.ts';
import type { PipelineServices } from '../../operations/pipeline.ts';
import { defineRoute, type Route } from '../../operations/route.ts';
import type { Store } from '../../ports/store.ts';
import { notFound } from '../../shared/errors.ts';
import { deleteMemento, listMementos, type WireMemento } from './contract.ts';
import { MEMENTOS, type MementoRecord } from './records.ts';

export interface MementosServices extends PipelineServices {
  readonly store: Store;
}

/** `GET /api/mementos` */
export function createListMementosHandler(services: MementosServices): Route {
  const mementos = services.store.collection(MEMENTOS);
  return defineRoute(listMementos, services, async ({ query }, { caller }) => {
    const { search = '', sort: field = 'createdAt', order: direction = 'desc' } = query;
    const own = { ownerId: caller.userId, ...(search !== '' && { text: { contains: search } }) };
    const { rows, pagination } = await findNumberedPage(mementos, own, query, { field, direction });
    return { mementos: rows.map(toWire), pagination };
  });
}

/** `DELETE /api/mementos/{id}` */
export function createDeleteMementoHandler(services: MementosServices): Route {
  const mementos = services.store.collection(MEMENTOS);
  return defineRoute(deleteMemento, services, async ({ params }, { caller }) => {
    const forgotten = await mementos.take(params.id, { ownerId: caller.userId });
    if (forgotten === undefined) throw notFound('Memento');
    return { success: true, message: 'The memento is deleted' };
  });
}

export function mementoRoutes(services: MementosServices): Route[] {
  return [createListMementosHandler(services), createDeleteMementoHandler(services)];
}

function toWire({ id, text, isStanding, sessionId, createdAt, updatedAt }: MementoRecord): WireMemento {
  return {
    id,
    text,
    standing: isStanding,
    sessionId,
    createdAt: new Date(createdAt).toISOString(),
    updatedAt: new Date(updatedAt).toISOString(),
  };
}
