import { AGENTS } from '@questline/core/internal';
import { describe, expect, it } from 'vitest';
import { type ChatApp, createChatApp } from '../support/chat.ts';

const SCOPES = ['agents:read', 'agents:write', 'notebooks:read', 'notebooks:write'] as const;
const PUBLIC = '/api/v1/agents';
const OWN = '/api/agents';

async function createAgentApp(options: Parameters<typeof createChatApp>[0] = {}) {
  const app = await createChatApp({
    ...options,
    settings: { admin: { AgentPublishing: 'open' }, ...options.settings },
    key: { scopes: SCOPES },
  });
  const bob = await app.addUser('bob@example.com');
  return {
    ...app,
    ada: await app.token(),
    bob: { id: bob.id, token: await app.token(bob) },
  };
}

async function add(app: ChatApp, credential: string, input: object = {}): Promise<string> {
  const { body } = await app.json('POST', OWN, { body: { name: 'Grace', ...input }, credential });
  return body.id;
}

describe('agent in the two APIs', () => {
  it('is created in one and returned by the other', async () => {
    const app = await createAgentApp();
    const { body: made } = await app.json('POST', PUBLIC, {
      body: { name: 'Grace', system_prompt: 'Count.', trigger_words: ['G'] },
    });
    const { body: seen } = await app.json('GET', `${OWN}/${made.id}`, { credential: app.ada });
    expect(seen).toMatchObject({ name: 'Grace', triggerWords: ['@g'], isPublic: false });
    expect(JSON.stringify(seen)).not.toContain('Count.');
    await app.json('PUT', `${OWN}/${made.id}`, {
      body: { description: 'Counts.', isPublic: true },
      credential: app.ada,
    });
    const { body: again } = await app.json('GET', `${PUBLIC}/${made.id}`);
    expect(again).toMatchObject({ description: 'Counts.', system_prompt: 'Count.', is_owner: true });
  });

  it('returns its prompt only to its owner, and only the owner may change it', async () => {
    const app = await createAgentApp();
    const { body: made } = await app.json('POST', PUBLIC, {
      body: { name: 'Grace', system_prompt: 'Count.' },
    });
    const path = `${PUBLIC}/${made.id}` as const;
    const asBob = { credential: app.bob.token };
    expect((await app.json('GET', path, asBob)).status).toBe(404);
    await app.json('PUT', `${OWN}/${made.id}`, { body: { isPublic: true }, credential: app.ada });
    const { body: seen } = await app.json('GET', path, asBob);
    expect(seen).toMatchObject({ name: 'Grace', system_prompt: null, is_owner: false });
    const listed = await app.json('GET', PUBLIC, asBob);
    expect(listed.body.data).toEqual([seen]);
    expect((await app.json('PATCH', path, { ...asBob, body: { name: 'Mine' } })).status).toBe(404);
    expect((await app.json('DELETE', path, asBob)).status).toBe(404);
    expect((await app.json('GET', path)).body.name).toBe('Grace');
  });

  it('can be used but not changed by users with a read share', async () => {
    const app = await createAgentApp();
    const id = await add(app, app.ada);
    const asBob = { credential: app.bob.token };
    await app.services.store.collection(AGENTS).update(id, { readerIds: [app.bob.id] });
    expect((await app.json('GET', `${OWN}/${id}`, asBob)).status).toBe(200);
    const refused = await app.json('PUT', `${OWN}/${id}`, { ...asBob, body: { name: 'Mine' } });
    expect([refused.status, refused.body.error.code]).toEqual([403, 'AGENT_ACCESS_DENIED']);
    // The list contains only own and public agents.
    expect((await app.json('GET', OWN, asBob)).body.agents).toEqual([]);
  });
});

describe('list of agents', () => {
  it('contains own and public agents or only own ones, with search, sorting and pages', async () => {
    const app = await createAgentApp();
    for (const [name, owner, isPublic] of [
      ['Ada', 'ada', false],
      ['Grace', 'ada', true],
      ['Alan', 'bob', true],
      ['Eve', 'bob', false],
    ] as const) {
      const credential = owner === 'ada' ? app.ada : app.bob.token;
      await add(app, credential, { name, isPublic, description: `Friend of ${owner}.` });
      await app.clock.advance(1000);
    }
    const list = async (query: string) => {
      const { body } = await app.json('GET', `${OWN}?${query}`, { credential: app.ada });
      return body.agents.map(({ name }: { name: string }) => name).join(' ');
    };
    expect(await list('')).toBe('Alan Grace Ada');
    expect(await list('sort=name&order=asc')).toBe('Ada Alan Grace');
    expect(await list('owned=true')).toBe('Grace Ada');
    expect(await list('public=false')).toBe('Grace Ada');
    expect(await list('owned=false&public=true')).toBe('Alan Grace Ada');
    expect(await list('search=LAN')).toBe('Alan');
    expect(await list('search=of%20ada')).toBe('Grace Ada');
    expect(await list('search=eve')).toBe('');
    expect(await list('limit=2&page=2')).toBe('Ada');
    const { body } = await app.json('GET', `${OWN}?limit=2`, { credential: app.ada });
    expect(body.pagination).toEqual({
      page: 1,
      limit: 2,
      total: 3,
      pages: 2,
      totalPages: 2,
      hasNext: true,
      hasPrev: false,
    });
  });
});

describe('limit of agents', () => {
  it('is not exceeded by parallel creations through both APIs, per user', async () => {
    const app = await createAgentApp({ settings: { admin: { MaxAgentsPerUser: 5 } } });
    const makers = Array.from({ length: 20 }, (_, index) =>
      index % 2 === 0
        ? app.json('POST', PUBLIC, { body: { name: 'x' } })
        : app.json('POST', OWN, { body: { name: 'x' }, credential: app.ada }),
    );
    const statuses = (await Promise.all(makers)).map(({ status }) => status);
    expect(statuses.filter((status) => status === 201)).toHaveLength(5);
    expect(new Set(statuses)).toEqual(new Set([201, 400, 429]));
    expect((await app.json('POST', OWN, { body: { name: 'x' }, credential: app.bob.token })).status).toBe(
      201,
    );
  });
});
