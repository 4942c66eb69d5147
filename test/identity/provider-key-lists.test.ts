import type { UserRecord } from '@questline/core';
import { PROVIDER_KEYS } from '@questline/core/internal';
import { describe, expect, it } from 'vitest';
import { callAs } from '../support/sharing.ts';
import { createTestApp, NOW } from '../support/test-app.ts';

async function setUp() {
  const app = await createTestApp();
  const grace = await app.addUser('grace@example.com');
  const add = async (name: string, service = 'openai', who: UserRecord = app.user) => {
    await app.clock.advance(1);
    const body = { name, service, key: `sk-secret-${name}` };
    return (await callAs(app, who, 'POST', '/api/api-keys/create', body)).body;
  };
  const ask = <const Method extends string, const Path extends string>(
    method: Method,
    path: Path,
    who: UserRecord = app.user,
  ) => callAs(app, who, method, path);
  const list = async (query = '', who?: UserRecord) => (await ask('GET', `/api/api-keys${query}`, who)).body;
  const names = async (query?: string) =>
    (await list(query)).apiKeys.map(({ name }: { name: string }) => name);
  const active = async () => {
    const keys = await app.services.store.collection(PROVIDER_KEYS).find({ isActive: true });
    return keys.map(({ name }) => name).toSorted();
  };
  return { app, grace, add, ask, list, names, active };
}

describe('own provider keys', () => {
  it('are listed newest first, with the end of the secret only', async () => {
    const { app, grace, add, list } = await setUp();
    const first = await add('first');
    await add('hers', 'openai', grace);
    await app.services.store.collection(PROVIDER_KEYS).update(first._id, { lastUsedAt: NOW });
    const second = await add('second');
    const common = { service: 'openai', lastUsedAt: null };
    expect(second).toEqual({
      ...common,
      _id: expect.any(String),
      name: 'second',
      keyPreview: 'cond',
      isActive: false,
    });
    expect((await list()).apiKeys).toEqual([
      second,
      {
        ...common,
        _id: first._id,
        name: 'first',
        keyPreview: 'irst',
        isActive: true,
        lastUsedAt: '2026-11-21T12:00:00.000Z',
      },
    ]);
    expect((await list('', grace)).apiKeys).toMatchObject([{ name: 'hers' }]);
  });

  it('are searched, sorted and paged', async () => {
    const { add, names } = await setUp();
    for (const name of ['beta', 'Alpha', 'alphabet']) await add(name);
    expect(await names('?search=alpha')).toEqual(['alphabet', 'Alpha']);
    expect(await names('?search=')).toHaveLength(3);
    expect(await names('?order=asc')).toEqual(['beta', 'Alpha', 'alphabet']);
    expect(await names('?sort=name&order=asc')).toEqual((await names('?sort=name')).toReversed());
    expect(await names('?sort=name&order=asc')).toEqual(['Alpha', 'alphabet', 'beta']);
    expect(await names('?limit=1&page=2')).toEqual(['Alpha']);
  });

  it('are active one per service and user', async () => {
    const { grace, add, ask, active } = await setUp();
    const [, second] = [await add('first'), await add('second')];
    await add('other', 'anthropic');
    await add('hers', 'openai', grace);
    expect(await active()).toEqual(['first', 'hers', 'other']);
    const chosen = await ask('POST', `/api/api-keys/${second._id}/set-active`);
    expect(chosen).toEqual({ status: 200, body: { success: true, message: 'The API key is in use' } });
    expect(await active()).toEqual(['hers', 'other', 'second']);
    expect((await add('later')).isActive).toBe(false);
    const deleted = await ask('DELETE', `/api/api-keys/${second._id}/delete`);
    expect(deleted).toEqual({ status: 200, body: { success: true, message: 'The API key is deleted' } });
    expect(await active()).toEqual(['hers', 'other']);
    await add('third');
    expect(await active()).toEqual(['hers', 'other', 'third']);
  });

  it('of another user are unknown and stay', async () => {
    const { grace, add, ask, active } = await setUp();
    await add('first');
    const { _id } = await add('second');
    for (const [method, path] of [
      ['POST', `/api/api-keys/${_id}/set-active`],
      ['DELETE', `/api/api-keys/${_id}/delete`],
    ] as const)
      expect((await ask(method, path, grace)).status).toBe(404);
    expect(await active()).toEqual(['first']);
    expect((await ask('DELETE', `/api/api-keys/${_id}/delete`)).status).toBe(200);
    expect((await ask('DELETE', `/api/api-keys/${_id}/delete`)).status).toBe(404);
  });
});
