import type { Caller } from '../call.ts';
import { fromCredits } from '../credits/amounts.ts';
import { ApiError, conflict, forbidden, invalid, notFound } from '../errors.ts';
import { paginationOf } from '../http/pages.ts';
import { issueApiKey, revokeApiKey as revoke, rotateApiKey as rotate } from '../identity/api-keys.ts';
import { API_KEYS, type ApiKeyRecord } from '../identity/records.ts';
import type { AdministrationCheck } from '../organizations/membership.ts';
import type { PipelineServices } from '../pipeline.ts';
import type { Filter, Store } from '../ports/store.ts';
import { defineRoute, type Route } from '../route.ts';
import { changeApiKeyRateLimit, createApiKey, listApiKeys, revokeApiKey, rotateApiKey } from './contract.ts';
import { expiryOf, grantedScopes, toWireApiKey } from './grants.ts';

const MOST_ACTIVE = 10;

export interface ApiKeysServices extends PipelineServices {
  readonly store: Store;
  readonly administers: AdministrationCheck;
}

/** `POST /api/user-api-keys` */
export function createCreateApiKeyHandler(services: ApiKeysServices): Route {
  const { store, clock, administers } = services;
  return defineRoute(createApiKey, services, async ({ body }, { caller }) => {
    const now = clock.now();
    const { organizationId = null, spendCap } = body;
    const scopes = grantedScopes(body, { isAdmin: isAdmin(caller) });
    const expiresAt = expiryOf(body.expiresAt, now);
    if (organizationId !== null && !(await administers(caller.userId, organizationId))) {
      throw forbidden('You do not administer this organization');
    }
    // Counted and written in one transaction: of parallel makers none gets beyond the cap.
    const { record, key } = await store.transaction(async (inner) => {
      const active = await inner.collection(API_KEYS).count(usable(caller.userId, now));
      if (active >= MOST_ACTIVE) throw tooManyKeys();
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
    const { page, limit, order = 'desc', includeDisabled, search = '' } = query;
    const now = services.clock.now();
    const filter: Filter<ApiKeyRecord> = {
      userId: caller.userId,
      ...(includeDisabled !== 'true' && { status: 'active' }),
      ...(search !== '' && { name: { contains: search } }),
    };
    const [total, rows] = await Promise.all([
      keys.count(filter),
      keys.find(filter, {
        order: { field: 'createdAt', direction: order },
        offset: (page - 1) * limit,
        limit,
      }),
    ]);
    return { apiKeys: rows.map((row) => toWireApiKey(row, now)), pagination: paginationOf(query, total) };
  });
}

/** `POST /api/user-api-keys/{id}/rotate` */
export function createRotateApiKeyHandler(services: ApiKeysServices): Route {
  const keys = services.store.collection(API_KEYS);
  return defineRoute(rotateApiKey, services, async ({ params }, { caller }) => {
    const { userId } = caller;
    const issued = await rotate(services, userId, params.id);
    if (issued !== undefined)
      return { ...toWireApiKey(issued.record, services.clock.now()), key: issued.key };
    if ((await keys.get(params.id, { userId })) === undefined) throw notFound('API key');
    throw conflict('The key is revoked or has expired; make a new one');
  });
}

/** `POST /api/user-api-keys/{id}/revoke` */
export function createRevokeApiKeyHandler(services: ApiKeysServices): Route {
  return defineRoute(revokeApiKey, services, async ({ params, body }, { caller }) => {
    if (!(await revoke(services, caller.userId, params.id, body.reason))) throw notFound('API key');
    return { success: true, message: 'The API key is revoked' };
  });
}

/** `PATCH /api/user-api-keys/{id}/rate-limit` */
export function createChangeApiKeyRateLimitHandler(services: ApiKeysServices): Route {
  const keys = services.store.collection(API_KEYS);
  return defineRoute(changeApiKeyRateLimit, services, async ({ params, body }, { caller }) => {
    if (Object.values(body).every((value) => value === undefined)) {
      throw invalid('', 'expected requestsPerMinute, requestsPerDay or both');
    }
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
  return new ApiError(400, `You have ${MOST_ACTIVE} active API keys already; revoke one first`, {
    applicationCode: 'API_KEY_USER_CAP',
  });
}
