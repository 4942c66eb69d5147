import type { Caller } from '../../contract/call.ts';
import { fromCredits } from '../../credits/amounts.ts';
import { issueApiKey, revokeApiKey as revoke, rotateApiKey as rotate } from '../../identity/api-keys.ts';
import { API_KEYS, type ApiKeyRecord } from '../../identity/records.ts';
import { type GetCatalogue, requireKnownModels } from '../../models/allowed-models.ts';
import { actingFor } from '../../operations/audit.ts';
import { parseExpiry } from '../../operations/expiry.ts';
import { findNumberedPage } from '../../operations/find-page.ts';
import { requireUnlimited } from '../../operations/gate.ts';
import type { PipelineServices } from '../../operations/pipeline.ts';
import { defineRoute, type Route } from '../../operations/route.ts';
import type { Filter, Store } from '../../ports/store.ts';
import { ApiError, conflict, forbidden, invalid, notFound } from '../../shared/errors.ts';
import { type AdministrationCheck, createAdministrationCheck } from '../organizations/membership.ts';
import {
  changeApiKeyRateLimit,
  createApiKey,
  getApiKey,
  listApiKeys,
  revokeApiKey,
  rotateApiKey,
} from './contract.ts';
import { grantedScopes, toWireApiKey } from './grants.ts';

const MAX_ACTIVE = 10;

export interface ApiKeysServices extends PipelineServices {
  readonly store: Store;
  readonly administers: AdministrationCheck;
  readonly getCatalogue: GetCatalogue;
}

/** `POST /api/user-api-keys` */
export function createCreateApiKeyHandler(services: ApiKeysServices): Route {
  const { clock, administers } = services;
  return defineRoute(createApiKey, services, async ({ body }, call) => {
    const { caller } = call;
    requireUnlimited(caller);
    const now = clock.now();
    const { organizationId = null, spendCap, models = null } = body;
    const scopes = grantedScopes(body, { isAdmin: isAdmin(caller) });
    const expiresAt = parseExpiry(body.expiresAt, now);
    if (models !== null) await requireKnownModels(services.getCatalogue, caller, models);
    const requireRight = async (check: AdministrationCheck): Promise<void> => {
      if (organizationId !== null && !(await check(caller.userId, organizationId))) {
        throw forbidden('You do not administer this organization');
      }
    };
    await requireRight(administers);
    // Counting and inserting share one transaction, so parallel requests cannot exceed the maximum. So does the right: the end
    // of a membership revokes the keys that it finds.
    const { record, key } = await actingFor(services, call).store.transaction(async (inner) => {
      await requireRight(createAdministrationCheck(inner));
      const active = await inner.collection(API_KEYS).count(usable(caller.userId, now));
      if (active >= MAX_ACTIVE) throw tooManyKeys();
      return issueApiKey(
        { ...services, store: inner },
        {
          userId: caller.userId,
          name: body.name,
          scopes,
          mode: body.mode,
          expiresAt,
          ...body.rateLimit,
          spendCap: spendCap ? { amount: fromCredits(spendCap.credits), period: spendCap.period } : null,
          models,
          organizationId,
        },
      );
    });
    return { ...toWireApiKey(record, now), key };
  });
}

/** `GET /api/user-api-keys` */
export function createListApiKeysHandler(services: ApiKeysServices): Route {
  const keys = services.store.collection(API_KEYS);
  return defineRoute(listApiKeys, services, async ({ query }, { caller }) => {
    const { order = 'desc', includeDisabled, search = '' } = query;
    const now = services.clock.now();
    const filter: Filter<ApiKeyRecord> = {
      userId: caller.userId,
      ...(includeDisabled !== 'true' && { status: 'active' }),
      ...(search !== '' && { name: { contains: search } }),
    };
    const { rows, pagination } = await findNumberedPage(keys, filter, query, {
      field: 'createdAt',
      direction: order,
    });
    return { apiKeys: rows.map((row) => toWireApiKey(row, now)), pagination };
  });
}

/** `GET /api/user-api-keys/{id}` */
export function createGetApiKeyHandler(services: ApiKeysServices): Route {
  const keys = services.store.collection(API_KEYS);
  return defineRoute(getApiKey, services, async ({ params }, { caller }) => {
    const record = await keys.get(params.id, { userId: caller.userId });
    if (record === undefined) throw notFound('API key');
    return toWireApiKey(record, services.clock.now());
  });
}

/** `POST /api/user-api-keys/{id}/rotate` */
export function createRotateApiKeyHandler(services: ApiKeysServices): Route {
  const keys = services.store.collection(API_KEYS);
  return defineRoute(rotateApiKey, services, async ({ params }, call) => {
    const { userId } = call.caller;
    const issued = await rotate(actingFor(services, call), userId, params.id);
    if (issued !== undefined)
      return { ...toWireApiKey(issued.record, services.clock.now()), key: issued.key };
    if ((await keys.get(params.id, { userId })) === undefined) throw notFound('API key');
    throw conflict('The key is revoked or has expired; create a new one');
  });
}

/** `POST /api/user-api-keys/{id}/revoke` */
export function createRevokeApiKeyHandler(services: ApiKeysServices): Route {
  return defineRoute(revokeApiKey, services, async ({ params, body }, call) => {
    const acting = actingFor(services, call);
    if (!(await revoke(acting, call.caller.userId, params.id, body.reason))) throw notFound('API key');
    return { success: true, message: 'The API key is revoked' };
  });
}

/** `PATCH /api/user-api-keys/{id}/rate-limit` */
export function createChangeApiKeyRateLimitHandler(services: ApiKeysServices): Route {
  return defineRoute(changeApiKeyRateLimit, services, async ({ params, body }, call) => {
    const { caller } = call;
    requireUnlimited(caller);
    if (Object.values(body).every((value) => value === undefined)) {
      throw invalid('', 'expected requestsPerMinute, requestsPerDay or both');
    }
    const keys = actingFor(services, call).store.collection(API_KEYS);
    const record = await keys.update(params.id, body, { userId: caller.userId });
    if (record === undefined) throw notFound('API key');
    services.authenticator.forgetKey(record.id);
    return toWireApiKey(record, services.clock.now());
  });
}

function usable(userId: string, now: number): Filter<ApiKeyRecord> {
  return { userId, status: 'active', anyOf: [{ expiresAt: null }, { expiresAt: { gt: now } }] };
}

function isAdmin(caller: Caller): boolean {
  return caller.kind === 'token' && caller.isAdmin;
}

function tooManyKeys(): ApiError {
  return new ApiError(400, `You have the maximum of ${MAX_ACTIVE} active API keys; revoke one first`, {
    applicationCode: 'API_KEY_USER_CAP',
  });
}
