import { notFound } from '../errors.ts';
import { paginationOf } from '../http/pages.ts';
import type { PipelineServices } from '../pipeline.ts';
import type { Filter, Store } from '../ports/store.ts';
import { defineRoute, type Route } from '../route.ts';
import {
  createProviderKey,
  deleteProviderKey,
  listProviderKeys,
  setActiveProviderKey,
  type WireProviderKey,
} from './contract.ts';
import type { OwnModels } from './own-models.ts';
import { activeFor, PROVIDER_KEYS, type ProviderKeyRecord, placeOf } from './records.ts';
import type { SecretBox } from './secret-box.ts';

const PREVIEWED = 4;

export interface ProviderKeysServices extends PipelineServices {
  readonly store: Store;
  readonly secretBox: SecretBox;
  readonly ownModels: OwnModels;
}

export function providerKeyRoutes(services: ProviderKeysServices): Route[] {
  return [
    createCreateProviderKeyHandler(services),
    createListProviderKeysHandler(services),
    createDeleteProviderKeyHandler(services),
    createSetActiveProviderKeyHandler(services),
  ];
}

/** `POST /api/api-keys/create` */
function createCreateProviderKeyHandler(services: ProviderKeysServices): Route {
  const { store, ids, clock, secretBox } = services;
  return defineRoute(createProviderKey, services, async ({ body }, { caller }) => {
    const { name, service, key } = body;
    const owned = { id: ids.next(), userId: caller.userId };
    const record: ProviderKeyRecord = {
      ...owned,
      name,
      service,
      sealed: secretBox.seal(key, placeOf(owned)),
      keyPreview: key.slice(-PREVIEWED),
      isActive: false,
      lastUsedAt: null,
      createdAt: clock.now(),
    };
    const active = { ...record, isActive: true, activeFor: activeFor(record) };
    const kept = await store.transaction(async (inner) => {
      const keys = inner.collection(PROVIDER_KEYS);
      // Another one of its service is in use: it stays so until somebody says otherwise.
      if (await keys.insert(active)) return active;
      await keys.insert(record);
      return record;
    });
    services.ownModels.forget(caller.userId);
    return toWire(kept);
  });
}

/** `GET /api/api-keys` */
function createListProviderKeysHandler(services: ProviderKeysServices): Route {
  const keys = services.store.collection(PROVIDER_KEYS);
  return defineRoute(listProviderKeys, services, async ({ query }, { caller }) => {
    const { page, limit, sort, order: direction = 'desc', search = '' } = query;
    const filter: Filter<ProviderKeyRecord> = {
      userId: caller.userId,
      ...(search !== '' && { name: { contains: search } }),
    };
    const [total, rows] = await Promise.all([
      keys.count(filter),
      keys.find(filter, { order: { field: sort, direction }, offset: (page - 1) * limit, limit }),
    ]);
    return { apiKeys: rows.map(toWire), pagination: paginationOf(query, total) };
  });
}

/** `DELETE /api/api-keys/{id}/delete` */
function createDeleteProviderKeyHandler(services: ProviderKeysServices): Route {
  const keys = services.store.collection(PROVIDER_KEYS);
  return defineRoute(deleteProviderKey, services, async ({ params }, { caller: { userId } }) => {
    if ((await keys.take(params.id, { userId })) === undefined) throw notFound('API key');
    services.ownModels.forget(userId);
    return { success: true, message: 'The API key is deleted' };
  });
}

/** `POST /api/api-keys/{id}/set-active` */
function createSetActiveProviderKeyHandler(services: ProviderKeysServices): Route {
  return defineRoute(setActiveProviderKey, services, async ({ params }, { caller: { userId } }) => {
    await services.store.transaction(async (inner) => {
      const keys = inner.collection(PROVIDER_KEYS);
      const record = await keys.get(params.id, { userId });
      if (record === undefined) throw notFound('API key');
      const place = activeFor(record);
      for (const { id } of await keys.find({ activeFor: place })) {
        await keys.update(id, { isActive: false, activeFor: undefined }, { userId });
      }
      await keys.update(record.id, { isActive: true, activeFor: place }, { userId });
    });
    services.ownModels.forget(userId);
    return { success: true, message: 'The API key is in use' };
  });
}

function toWire({ id, name, service, keyPreview, isActive, lastUsedAt }: ProviderKeyRecord): WireProviderKey {
  return {
    _id: id,
    name,
    service,
    keyPreview,
    isActive,
    lastUsedAt: lastUsedAt === null ? null : new Date(lastUsedAt).toISOString(),
  };
}
