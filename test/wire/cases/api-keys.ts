import { expect } from 'vitest';
import { NOW, type TestApp } from '../../support/test-app.ts';
import type { Asked } from '../../support/wire.ts';
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
  models: null,
  organizationId: null,
  lastUsedAt: null,
  createdAt: new Date(NOW).toISOString(),
  ...change,
});
const key = expect.stringMatching(/^svc_live_[0-9A-Za-z]{43}$/);

const of =
  (action: string, body?: object) =>
  (app: TestApp): Partial<Asked> => ({
    path: `/api/user-api-keys/${app.keyId}/${action}`,
    ...(body !== undefined && { body }),
  });
const NOT_FOUND = refused('application', { status: 404, message: 'API key not found' });

const invalid = (title: string, body: object, path: string, message: string): WireCase => ({
  title,
  ask: { body },
  ...refused('application', {
    status: 422,
    message: path === '' ? message : `${path}: ${message}`,
    details: [{ path, message }],
  }),
});
const NOT_YOURS = 'unknown scope, or you may not grant it';

export const createApiKey: readonly WireCase[] = [
  {
    title: 'returns the key once and ignores fields set by the server',
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
    title: 'rejects an eleventh key',
    ask: async (app) => {
      for (let count = 1; count < 10; count += 1) await app.issue({});
      return { body: WISH };
    },
    ...refused('application', {
      status: 400,
      code: 'API_KEY_USER_CAP',
      message: 'You have the maximum of 10 active API keys; revoke one first',
    }),
  },
  {
    title: 'rejects an organization the caller does not administer',
    ask: { body: { ...WISH, organizationId: 'a'.repeat(24) } },
    ...refused('application', { status: 403, message: 'You do not administer this organization' }),
  },
  invalid(
    'both scopes and a preset',
    { ...WISH, preset: 'read' },
    'preset',
    'send scopes or preset, not both',
  ),
  invalid('neither scopes nor a preset', { name: 'CI' }, 'scopes', 'expected scopes or a preset'),
  ...['admin:*', 'embed:chat', 'qa:ingest', 'files:delete'].map((scope) =>
    invalid(`the scope ${scope}`, { name: 'CI', scopes: ['me:read', scope] }, 'scopes.1', NOT_YOURS),
  ),
  invalid(
    'a first scope that the caller may not grant',
    { name: 'CI', scopes: ['admin:*', 'me:read'] },
    'scopes.0',
    NOT_YOURS,
  ),
  invalid(
    'an expiry in the past',
    { ...WISH, expiresAt: new Date(NOW).toISOString() },
    'expiresAt',
    'expected a time in the future',
  ),
];

export const listApiKeys: readonly WireCase[] = [
  {
    title: 'lists the keys of the caller without secrets',
    status: 200,
    body: { apiKeys: [record({ scopes: ['ai:chat', 'me:read'] })], pagination: onePage(1) },
    everywhere: true,
  },
  {
    title: 'searches names',
    ask: async (app) => {
      await app.issue({ name: 'Nightly build' });
      await app.issue({ userId: (await app.addUser('grace@example.com')).id, name: 'Night' });
      return { path: '/api/user-api-keys?search=NIGHT' };
    },
    status: 200,
    body: { apiKeys: [record({ name: 'Nightly build' })], pagination: onePage(1) },
  },
  ...badPages('/api/user-api-keys'),
];

export const rotateApiKey: readonly WireCase[] = [
  { title: 'returns a new secret once', ask: of('rotate'), status: 200, body: record({ key }) },
  {
    title: 'rejects a revoked key',
    ask: async (app) => {
      await app.ask('POST', `/api/user-api-keys/${app.keyId}/revoke`, {
        credential: await app.token(),
      });
      return { ...of('rotate')(app), headers: {} };
    },
    headers: { 'x-ratelimit-remaining': '998' },
    ...refused('application', {
      status: 409,
      message: 'The key is revoked or has expired; create a new one',
    }),
  },
  { title: 'answers 404 for an unknown key', ...NOT_FOUND },
];

export const revokeApiKey: readonly WireCase[] = [
  {
    title: 'revokes the key',
    ask: of('revoke', { reason: 'leaked' }),
    status: 200,
    body: { success: true, message: 'The API key is revoked' },
    everywhere: true,
  },
  { title: 'answers 404 for an unknown key', ...NOT_FOUND },
];

export const changeApiKeyRateLimit: readonly WireCase[] = [
  {
    title: 'changes only the named fields',
    ask: of('rate-limit', { requestsPerDay: 7, scopes: ['admin:*'], status: 'disabled', userId: 'x' }),
    status: 200,
    body: record({ rateLimit: { requestsPerMinute: 60, requestsPerDay: 7 } }),
  },
  {
    title: 'rejects an empty change',
    ask: of('rate-limit', {}),
    ...refused('application', {
      status: 422,
      message: 'expected requestsPerMinute, requestsPerDay or both',
      details: [{ path: '', message: 'expected requestsPerMinute, requestsPerDay or both' }],
    }),
  },
  { title: 'answers 404 for an unknown key', ask: { body: { requestsPerDay: 1 } }, ...NOT_FOUND },
];

export const getApiKey: readonly WireCase[] = [
  {
    title: 'returns the key without its secret',
    ask: (app) => ({ path: `/api/user-api-keys/${app.keyId}` }),
    status: 200,
    body: record(),
    everywhere: true,
  },
  { title: 'answers 404 for an unknown key', ...NOT_FOUND },
];
