import type { OwnModels } from '../../models/own-models.ts';
import {
  activeFor,
  getPlace,
  PROVIDER_KEYS,
  type ProviderKeyRecord,
} from '../../models/provider-keys-records.ts';
import type { SecretBox } from '../../models/secret-box.ts';
import { actingFor } from '../../operations/audit.ts';
import { findNumberedPage } from '../../operations/find-page.ts';
import type { PipelineServices } from '../../operations/pipeline.ts';
import { defineRoute, type Route } from '../../operations/route.ts';
import type { Filter, Store } from '../../ports/store.ts';
import { notFound } from '../../shared/errors.ts';
import {
  createProviderKey,
  deleteProviderKey,
  listProviderKeys,
  setActiveProviderKey,
  type WireProviderKey,
} from './provider-keys-contract.ts';

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
  const { ids, clock, secretBox } = services;
  return defineRoute(createProviderKey, services, async ({ body }, call) => {
    const { caller } = call;
    const { name, service, key } = body;
    const owned = { id: ids.next(), userId: caller.userId };
    const record: ProviderKeyRecord = {
      ...owned,
      name,
      service,
      sealed: secretBox.seal(key, getPlace(owned)),
      keyPreview: key.slice(-PREVIEWED),
      isActive: false,
      lastUsedAt: null,
      createdAt: clock.now(),
    };
    const active = { ...record, isActive: true, activeFor: activeFor(record) };
    const kept = await actingFor(services, call).store.transaction(async (inner) => {
      const keys = inner.collection(PROVIDER_KEYS);
      // Another key of the service is active: it stays active until the user changes that.
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
    const { sort, order: direction = 'desc', search = '' } = query;
    const filter: Filter<ProviderKeyRecord> = {
      userId: caller.userId,
      ...(search !== '' && { name: { contains: search } }),
    };
    const { rows, pagination } = await findNumberedPage(keys, filter, query, { field: sort, direction });
    return { apiKeys: rows.map(toWire), pagination };
  });
}

/** `DELETE /api/api-keys/{id}/delete` */
function createDeleteProviderKeyHandler(services: ProviderKeysServices): Route {
  return defineRoute(deleteProviderKey, services, async ({ params }, call) => {
    const { userId } = call.caller;
    const keys = actingFor(services, call).store.collection(PROVIDER_KEYS);
    if ((await keys.take(params.id, { userId })) === undefined) throw notFound('API key');
    services.ownModels.forget(userId);
    return { success: true, message: 'The API key is deleted' };
  });
}

/** `POST /api/api-keys/{id}/set-active` */
function createSetActiveProviderKeyHandler(services: ProviderKeysServices): Route {
  return defineRoute(setActiveProviderKey, services, async ({ params }, call) => {
    const { userId } = call.caller;
    await actingFor(services, call).store.transaction(async (inner) => {
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
