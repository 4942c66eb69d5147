import { AGENTS } from '@questline/core';
import { describe, expect, it } from 'vitest';
import { type ChatWorld, createChatWorld } from '../support/chat.ts';

const SCOPES = ['agents:read', 'agents:write', 'notebooks:read', 'notebooks:write'] as const;
const PUBLIC = '/api/v1/agents';
const OWN = '/api/agents';

async function createAgentWorld(options: Parameters<typeof createChatWorld>[0] = {}) {
  const world = await createChatWorld({ ...options, key: { scopes: SCOPES } });
  const bob = await world.addUser('bob@example.com');
  return {
    ...world,
    ada: await world.token(),
    bob: { id: bob.id, token: await world.token(bob) },
  };
}

async function add(world: ChatWorld, credential: string, wish: object = {}): Promise<string> {
  const { body } = await world.json('POST', OWN, { body: { name: 'Grace', ...wish }, credential });
  return body.id;
}

describe('one agent in two views', () => {
  it('is written by one and read by the other', async () => {
    const world = await createAgentWorld();
    const { body: made } = await world.json('POST', PUBLIC, {
      body: { name: 'Grace', system_prompt: 'Count.', trigger_words: ['G'] },
    });
    const { body: seen } = await world.json('GET', `${OWN}/${made.id}`, { credential: world.ada });
    expect(seen).toMatchObject({ name: 'Grace', triggerWords: ['@g'], isPublic: false });
    expect(JSON.stringify(seen)).not.toContain('Count.');
    await world.json('PUT', `${OWN}/${made.id}`, {
      body: { description: 'Counts.', isPublic: true },
      credential: world.ada,
    });
    const { body: again } = await world.json('GET', `${PUBLIC}/${made.id}`);
    expect(again).toMatchObject({ description: 'Counts.', system_prompt: 'Count.', is_owner: true });
  });

  it('hides its prompt from everybody but its owner, who alone may write it', async () => {
    const world = await createAgentWorld();
    const { body: made } = await world.json('POST', PUBLIC, {
      body: { name: 'Grace', system_prompt: 'Count.' },
    });
    const path = `${PUBLIC}/${made.id}`;
    const asBob = { credential: world.bob.token };
    expect((await world.json('GET', path, asBob)).status).toBe(404);
    await world.json('PUT', `${OWN}/${made.id}`, { body: { isPublic: true }, credential: world.ada });
    const { body: seen } = await world.json('GET', path, asBob);
    expect(seen).toMatchObject({ name: 'Grace', system_prompt: null, is_owner: false });
    const listed = await world.json('GET', PUBLIC, asBob);
    expect(listed.body.data).toEqual([seen]);
    expect((await world.json('PATCH', path, { ...asBob, body: { name: 'Mine' } })).status).toBe(404);
    expect((await world.json('DELETE', path, asBob)).status).toBe(404);
    expect((await world.json('GET', path)).body.name).toBe('Grace');
  });

  it('can be used by those it is shared with, to write by none of them', async () => {
    const world = await createAgentWorld();
    const id = await add(world, world.ada);
    const asBob = { credential: world.bob.token };
    await world.services.store
      .collection(AGENTS)
      .update(id, { readerIds: [world.bob.id], writerIds: [world.bob.id] });
    expect((await world.json('GET', `${OWN}/${id}`, asBob)).status).toBe(200);
    const refused = await world.json('PUT', `${OWN}/${id}`, { ...asBob, body: { name: 'Mine' } });
    expect([refused.status, refused.body.error.code]).toEqual([403, 'AGENT_ACCESS_DENIED']);
    // What a list shows is one's own and what is public.
    expect((await world.json('GET', OWN, asBob)).body.agents).toEqual([]);
  });
});

describe('the list of agents', () => {
  it('has own and public ones, or own ones only, searched in any case, sorted and paged', async () => {
    const world = await createAgentWorld();
    for (const [name, owner, isPublic] of [
      ['Ada', 'ada', false],
      ['Grace', 'ada', true],
      ['Alan', 'bob', true],
      ['Eve', 'bob', false],
    ] as const) {
      const credential = owner === 'ada' ? world.ada : world.bob.token;
      await add(world, credential, { name, isPublic, description: `Friend of ${owner}.` });
      await world.clock.advance(1000);
    }
    const list = async (query: string) => {
      const { body } = await world.json('GET', `${OWN}?${query}`, { credential: world.ada });
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
    const { body } = await world.json('GET', `${OWN}?limit=2`, { credential: world.ada });
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

describe('the limit of agents', () => {
  it("holds under parallel makers, in both views, and is each user's own", async () => {
    const world = await createAgentWorld({ settings: { admin: { MaxAgentsPerUser: 5 } } });
    const makers = Array.from({ length: 20 }, (_, index) =>
      index % 2 === 0
        ? world.json('POST', PUBLIC, { body: { name: 'x' } })
        : world.json('POST', OWN, { body: { name: 'x' }, credential: world.ada }),
    );
    const statuses = (await Promise.all(makers)).map(({ status }) => status);
    expect(statuses.filter((status) => status === 201)).toHaveLength(5);
    expect(new Set(statuses)).toEqual(new Set([201, 400, 429]));
    expect((await world.json('POST', OWN, { body: { name: 'x' }, credential: world.bob.token })).status).toBe(
      201,
    );
  });
});
