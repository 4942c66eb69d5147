import { expect } from 'vitest';
import type { Asked } from '../../support/wire.ts';
import { NOW, type World } from '../../support/world.ts';
import { badPages, onePage, refused, type WireCase } from './case.ts';

const WISH = { name: 'CI', scopes: ['ai:chat', 'me:read'], rateLimit: { requestsPerMinute: 5 } };

const record = (change: object = {}): object => ({
  id: expect.stringMatching(/^[0-9a-f]{24}$/),
  name: 'test',
  keyPrefix: expect.stringMatching(/^svc_live_[0-9A-Za-z]{7}$/),
  scopes: ['ai:chat', 'me:read'],
  mode: 'live',
  status: 'active',
  expiresAt: null,
  rateLimit: { requestsPerMinute: 60, requestsPerDay: 1000 },
  spendCap: null,
  organizationId: null,
  lastUsedAt: null,
  createdAt: new Date(NOW).toISOString(),
  ...change,
});
const key = expect.stringMatching(/^svc_live_[0-9A-Za-z]{43}$/);

const of =
  (action: string, body?: object) =>
  (world: World): Partial<Asked> => ({
    path: `/api/user-api-keys/${world.keyId}/${action}`,
    ...(body !== undefined && { body }),
  });
const NOT_FOUND = refused('application', { status: 404, message: 'API key not found' });

const faulty = (title: string, body: object, path: string, message: string): WireCase => ({
  title,
  ask: { body },
  ...refused('application', {
    status: 422,
    message: path === '' ? message : `${path}: ${message}`,
    details: [{ path, message }],
  }),
});
const NOT_YOURS = 'this scope is unknown or not yours to grant';

export const createApiKey: readonly WireCase[] = [
  {
    title: 'shows the key once, and takes nothing a server decides',
    ask: {
      body: {
        ...WISH,
        spendCap: { credits: 1.5, period: 'month' },
        expiresAt: '2026-12-24T18:00:00+01:00',
        userId: 'f'.repeat(24),
        ownerId: 'f'.repeat(24),
        hash: 'x',
        status: 'disabled',
        isAdmin: true,
        credits: 1_000_000,
        lastUsedAt: '2026-01-01T00:00:00.000Z',
      },
    },
    status: 201,
    body: record({
      name: 'CI',
      rateLimit: { requestsPerMinute: 5, requestsPerDay: 1000 },
      spendCap: { credits: 1.5, period: 'month' },
      expiresAt: '2026-12-24T17:00:00.000Z',
      key,
    }),
    everywhere: true,
  },
  {
    title: 'an eleventh',
    ask: async (world) => {
      for (let count = 1; count < 10; count += 1) await world.issue({});
      return { body: WISH };
    },
    ...refused('application', {
      status: 400,
      code: 'API_KEY_USER_CAP',
      message: 'You have 10 active API keys already; revoke one first',
    }),
  },
  {
    title: 'for an organization the caller does not administer',
    ask: { body: { ...WISH, organizationId: 'a'.repeat(24) } },
    ...refused('application', { status: 403, message: 'You do not administer this organization' }),
  },
  faulty('a list and a preset', { ...WISH, preset: 'read' }, 'preset', 'send scopes or preset, not both'),
  faulty('neither a list nor a preset', { name: 'CI' }, 'scopes', 'expected scopes or a preset'),
  ...['admin:*', 'embed:chat', 'qa:ingest', 'files:delete'].map((scope) =>
    faulty(`the scope ${scope}`, { name: 'CI', scopes: ['me:read', scope] }, 'scopes.1', NOT_YOURS),
  ),
  faulty(
    'an end that is past',
    { ...WISH, expiresAt: new Date(NOW).toISOString() },
    'expiresAt',
    'expected a time in the future',
  ),
];

export const listApiKeys: readonly WireCase[] = [
  {
    title: "shows the caller's, never their secrets",
    status: 200,
    body: { apiKeys: [record({ scopes: ['ai:chat', 'me:read'] })], pagination: onePage(1) },
    everywhere: true,
  },
  {
    title: 'searches names',
    ask: async (world) => {
      await world.issue({ name: 'Nightly build' });
      await world.issue({ userId: (await world.addUser('grace@example.com')).id, name: 'Night' });
      return { path: '/api/user-api-keys?search=NIGHT' };
    },
    status: 200,
    body: { apiKeys: [record({ name: 'Nightly build' })], pagination: onePage(1) },
  },
  ...badPages('/api/user-api-keys'),
];

export const rotateApiKey: readonly WireCase[] = [
  { title: 'shows a new secret once', ask: of('rotate'), status: 200, body: record({ key }) },
  {
    title: 'one that is revoked',
    ask: async (world) => {
      await world.ask('POST', `/api/user-api-keys/${world.keyId}/revoke`, {
        credential: await world.token(),
      });
      return { ...of('rotate')(world), headers: {} };
    },
    headers: { 'x-ratelimit-remaining': '998' },
    ...refused('application', {
      status: 409,
      message: 'The key is revoked or has expired; make a new one',
    }),
  },
  { title: 'an unknown one', ...NOT_FOUND },
];

export const revokeApiKey: readonly WireCase[] = [
  {
    title: 'ends it',
    ask: of('revoke', { reason: 'leaked' }),
    status: 200,
    body: { success: true, message: 'The API key is revoked' },
    everywhere: true,
  },
  { title: 'an unknown one', ...NOT_FOUND },
];

export const changeApiKeyRateLimit: readonly WireCase[] = [
  {
    title: 'changes what is named, and nothing else',
    ask: of('rate-limit', { requestsPerDay: 7, scopes: ['admin:*'], status: 'disabled', userId: 'x' }),
    status: 200,
    body: record({ rateLimit: { requestsPerMinute: 60, requestsPerDay: 7 } }),
  },
  {
    title: 'nothing at all',
    ask: of('rate-limit', {}),
    ...refused('application', {
      status: 422,
      message: 'expected requestsPerMinute, requestsPerDay or both',
      details: [{ path: '', message: 'expected requestsPerMinute, requestsPerDay or both' }],
    }),
  },
  { title: 'an unknown one', ask: { body: { requestsPerDay: 1 } }, ...NOT_FOUND },
];
