import { expect } from 'vitest';
import type { TestApp } from '../../support/test-app.ts';
import { badPages, faulted, onePage, refused, type WireCase } from './case.ts';

const KEY = 'sk-marked-0123456789-wxyz';

const record = (change: object = {}): object => ({
  _id: expect.stringMatching(/^[0-9a-f]{24}$/),
  name: 'Mine',
  service: 'openai',
  keyPreview: 'wxyz',
  isActive: true,
  lastUsedAt: null,
  ...change,
});

/** Stores keys of the app's user in order. @returns their IDs. */
async function stored(app: TestApp, ...bodies: readonly object[]): Promise<string[]> {
  const ids: string[] = [];
  for (const body of bodies) {
    const credential = await app.token();
    const whole = { name: 'Mine', service: 'openai', key: KEY, ...body };
    const answer = await app.ask('POST', '/api/api-keys/create', { credential, body: whole });
    ids.push(((await answer.json()) as { _id: string })._id);
  }
  return ids;
}

const used = (count: number) => ({ 'x-ratelimit-remaining': String(1000 - count) });

export const createProviderKey: readonly WireCase[] = [
  {
    title: 'returns the last four characters of the key and ignores fields set by the server',
    ask: {
      body: {
        name: 'Mine',
        service: 'openai',
        key: ` ${KEY} `,
        _id: 'f'.repeat(24),
        userId: 'f'.repeat(24),
        isActive: false,
        keyPreview: 'none',
        sealed: 'v1.x',
        lastUsedAt: '2026-01-01T00:00:00.000Z',
      },
    },
    status: 201,
    body: record(),
    everywhere: true,
  },
  {
    title: 'stores a second key of a service as inactive',
    ask: async (app) => {
      await stored(app, {});
      return { body: { name: 'Other', service: 'openai', key: 'sk-other-key-0000' } };
    },
    headers: used(2),
    status: 201,
    body: record({ name: 'Other', keyPreview: '0000', isActive: false }),
  },
  {
    title: 'rejects an unknown service',
    ask: { body: { name: 'Mine', service: 'acme', key: KEY } },
    ...faulted(
      'service',
      'Invalid option: expected one of "anthropic"|"openai"|"gemini"|"xai", got 4 characters of text',
    ),
  },
  ...['sk-éééééééééé', 'short', 'two words of it', 'x'.repeat(501)].map((key): WireCase => {
    const message = 'expected 8 to 500 printable ASCII characters without spaces';
    return {
      title: `rejects the key ${key.slice(0, 20)}`,
      ask: { body: { name: 'Mine', service: 'xai', key } },
      ...faulted('key', `${message}, got ${key.length} characters of text`),
    };
  }),
];

export const listProviderKeys: readonly WireCase[] = [
  { title: 'lists no provider keys at first', status: 200, body: { apiKeys: [], pagination: onePage(0) } },
  {
    title: 'lists the provider keys of the caller, newest first',
    ask: async (app) => {
      await stored(app, {}, { name: 'Other' }, { service: 'gemini' });
      return { path: '/api/api-keys?sort=name' };
    },
    headers: used(4),
    status: 200,
    body: {
      apiKeys: [record({ name: 'Other', isActive: false }), record({ service: 'gemini' }), record()],
      pagination: onePage(3),
    },
    everywhere: true,
  },
  {
    title: 'searches names',
    ask: async (app) => {
      await stored(app, {}, { name: 'Other' });
      return { path: '/api/api-keys?search=oth' };
    },
    headers: used(3),
    status: 200,
    body: { apiKeys: [record({ name: 'Other', isActive: false })], pagination: onePage(1) },
  },
  ...badPages('/api/api-keys'),
];

const NOT_FOUND = refused('application', { status: 404, message: 'API key not found' });

export const deleteProviderKey: readonly WireCase[] = [
  {
    title: 'deletes a provider key',
    ask: async (app) => ({ path: `/api/api-keys/${(await stored(app, {}))[0]}/delete` }),
    headers: used(2),
    status: 200,
    body: { success: true, message: 'The API key is deleted' },
    everywhere: true,
  },
  { title: 'answers 404 for an unknown provider key', ...NOT_FOUND },
];

export const setActiveProviderKey: readonly WireCase[] = [
  {
    title: 'activates a provider key',
    ask: async (app) => ({ path: `/api/api-keys/${(await stored(app, {}, {}))[1]}/set-active` }),
    headers: used(3),
    status: 200,
    body: { success: true, message: 'The API key is in use' },
    everywhere: true,
  },
  { title: 'answers 404 for an unknown provider key', ...NOT_FOUND },
];
