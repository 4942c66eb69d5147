import { type LinkReader, MESSAGES, QUESTS } from '@questline/core';
import { describe, expect, it } from 'vitest';
import { type ChatWorld, type ChatWorldOptions, createChatWorld, silent } from '../support/chat.ts';

const UNKNOWN = '0'.repeat(24);
const KNOWN = 'a'.repeat(24);

const links: LinkReader = { isReadable: async (kind, id) => kind !== 'agent' && id === KNOWN };

const setUp = (options: ChatWorldOptions = {}) =>
  createChatWorld({ services: (services) => ({ ...services, links }), ...options });

const create = async (world: ChatWorld, body: object = { name: 'Mine' }) =>
  (await world.json('POST', '/api/v1/sessions', { body })).body;

const FULL = {
  knowledgeIds: [KNOWN],
  artifactIds: [KNOWN],
  agentIds: [],
  tags: [{ name: 'physics', strength: 0.5 }],
  forceKnowledgeRetrieval: true,
  retrievalTags: ['books'],
  includeLibraryFiles: true,
};

const HIDDEN = {
  dataLakeId: KNOWN,
  systemPromptText: 'Be kind.',
  enabledTools: ['dice'],
  disabledTools: ['clock'],
  temperature: 1.5,
  maxToolCalls: 3,
};

describe('creating', () => {
  it('needs a name; the rest is empty', async () => {
    const world = await setUp();
    const { status, body } = await world.json('POST', '/api/v1/sessions', { body: { name: 'Mine' } });
    expect([status, body]).toEqual([
      200,
      {
        id: expect.stringMatching(/^[0-9a-f]{24}$/),
        name: 'Mine',
        userId: world.user.id,
        knowledgeIds: [],
        artifactIds: [],
        agentIds: [],
        tags: [],
        projectId: null,
        lastUsedModel: null,
        forceKnowledgeRetrieval: false,
        retrievalTags: [],
        includeLibraryFiles: false,
        firstCreated: '2026-11-21T12:00:00.000Z',
        lastUpdated: '2026-11-21T12:00:00.000Z',
      },
    ]);
    expect((await world.json('GET', `/api/sessions/${body.id}`)).body).toEqual(body);
  });

  it('takes every setting, and shows those that are shown', async () => {
    const world = await setUp();
    const body = await create(world, {
      name: 'Full',
      ...FULL,
      ...HIDDEN,
      unknown: 1,
      id: UNKNOWN,
      userId: UNKNOWN,
    });
    expect(body).toMatchObject({ name: 'Full', userId: world.user.id, ...FULL });
    for (const name of Object.keys(HIDDEN)) expect(body).not.toHaveProperty(name);
    const { body: answer } = await world.chat({
      message: 'Hi',
      sessionId: body.id,
      wait: true,
      includeSystemPrompt: true,
    });
    expect(answer.promptText).toMatch(/Be kind\.$/);
    expect(world.calls[0]?.request.temperature).toBe(1.5);
    await world.chat({ message: 'Hi', sessionId: body.id, wait: true, temperature: 0 });
    expect(world.calls[1]?.request.temperature).toBe(0);
  });

  it.each([
    ['name', [undefined, '', 'x'.repeat(256), 7, null], ['x', '😀'.repeat(255)]],
    ['systemPromptText', ['x'.repeat(16_001), 7, null], ['', '😀'.repeat(16_000)]],
    ['temperature', [-0.1, 2.1, '1', null], [0, 2]],
    ['maxToolCalls', [0, -1, '3', null], [0.5, 1000]],
    ['tags', [['x'], [{ name: 'x' }], [{ name: 1, strength: 1 }], {}], [[], [{ name: '', strength: -1 }]]],
    ['knowledgeIds', ['x', [7], null], [[], [KNOWN]]],
    ['artifactIds', ['x', [7], null], [[], [KNOWN]]],
    ['agentIds', ['x', [7], null], [[]]],
    ['retrievalTags', ['x', [7], null], [[], ['x']]],
    ['enabledTools', ['x', [7], null], [[], ['x']]],
    ['disabledTools', ['x', [7], null], [[], ['x']]],
    ['forceKnowledgeRetrieval', ['true', 0, null], [true, false]],
    ['includeLibraryFiles', ['true', 0, null], [true, false]],
    ['dataLakeId', [7, null], [KNOWN]],
  ])('%s at its bounds', async (name, refused, taken) => {
    const world = await setUp();
    for (const value of refused) {
      const { status, body } = await world.json('POST', '/api/v1/sessions', {
        body: { name: 'x', [name]: value },
      });
      expect([value, status, body.error]).toEqual([value, 422, expect.stringContaining(name)]);
    }
    for (const value of taken) {
      const { status } = await world.json('POST', '/api/v1/sessions', { body: { name: 'x', [name]: value } });
      expect([value, status]).toEqual([value, 200]);
    }
  });

  it('refuses a link that the caller cannot read: 404', async () => {
    const world = await setUp();
    for (const [field, what] of [
      ['knowledgeIds', 'File'],
      ['artifactIds', 'Artifact'],
      ['agentIds', 'Agent'],
    ]) {
      for (const id of [UNKNOWN, 'no id', '']) {
        const { status, body } = await world.json('POST', '/api/v1/sessions', {
          body: { name: 'x', [field ?? '']: [id] },
        });
        expect([status, body.error]).toEqual([404, `${what} not found`]);
      }
    }
    const { status, body } = await world.json('POST', '/api/v1/sessions', {
      body: { name: 'x', dataLakeId: UNKNOWN },
    });
    expect([status, body.error]).toEqual([404, 'Data lake not found']);
    expect((await world.json('GET', '/api/v1/sessions')).body.data).toEqual([]);
  });
});

describe('updating', () => {
  it('changes what is named, and only that', async () => {
    const world = await setUp();
    const before = await create(world, { name: 'Before', ...FULL });
    await world.clock.advance(1000);
    const { status, body } = await world.json('PUT', `/api/sessions/${before.id}`, {
      body: { name: 'After', knowledgeIds: [], userId: UNKNOWN, lastUsedModel: 'x' },
    });
    expect([status, body]).toEqual([
      200,
      { ...before, name: 'After', knowledgeIds: [], lastUpdated: '2026-11-21T12:00:01.000Z' },
    ]);
    for (const wrong of [{ name: '' }, { name: null }, { temperature: 3 }])
      expect((await world.json('PUT', `/api/sessions/${before.id}`, { body: wrong })).status).toBe(422);
    expect(
      (await world.json('PUT', `/api/sessions/${before.id}`, { body: { agentIds: [KNOWN] } })).status,
    ).toBe(404);
    expect((await world.json('GET', `/api/sessions/${before.id}`)).body).toEqual(body);
  });
});

describe('cloning', () => {
  it('copies messages and settings into a session of its own', async () => {
    const world = await setUp();
    const original = await create(world, { name: 'x'.repeat(255), ...FULL, ...HIDDEN });
    for (const message of ['One', 'Two']) {
      await world.chat({ message, sessionId: original.id, wait: true });
      await world.clock.advance(1);
    }
    const { status, body: copy } = await world.json('POST', `/api/v1/sessions/${original.id}/clone`, {
      body: { targetSurface: 'web' },
    });
    expect(status).toBe(200);
    expect(copy).toMatchObject({ ...FULL, name: `${'x'.repeat(248)} (copy)`, userId: world.user.id });
    expect(copy.id).not.toBe(original.id);
    await world.json('DELETE', `/api/sessions/${original.id}`);
    await world.clock.advance(1);
    await world.chat({ message: 'Three', sessionId: copy.id, wait: true });
    expect(world.calls.at(-1)?.request.messages.map(({ content }) => content[0])).toEqual([
      expect.objectContaining({ text: expect.stringContaining('Be kind.') }),
      { type: 'text', text: 'One' },
      { type: 'text', text: 'Hello.' },
      { type: 'text', text: 'Two' },
      { type: 'text', text: 'Hello.' },
      { type: 'text', text: 'Three' },
    ]);
  });

  it('keeps the order of a long conversation', async () => {
    const world = await setUp();
    const { id } = await create(world);
    const messages = world.services.store.collection(MESSAGES);
    for (let index = 0; index < 1100; index += 1) {
      await messages.insert({
        id: world.services.ids.next(),
        sessionId: id,
        ownerId: world.user.id,
        role: index % 2 === 0 ? 'user' : 'assistant',
        content: String(index),
        createdAt: Math.floor(index / 2),
      });
    }
    const { body } = await world.json('POST', `/api/v1/sessions/${id}/clone`, { body: {} });
    const copied = await messages.find(
      { sessionId: body.id },
      { order: { field: 'createdAt', direction: 'asc' }, offset: 100 },
    );
    expect(copied.map(({ content }) => Number(content))).toEqual(
      Array.from({ length: 1000 }, (_, n) => n + 100),
    );
  });
});

describe('deleting', () => {
  it('answers the latest session that is left, and clears everything away', async () => {
    const world = await setUp();
    const first = await create(world, { name: 'first' });
    await world.clock.advance(1);
    const second = await create(world, { name: 'second' });
    await world.clock.advance(1);
    await world.chat({ message: 'Hi', sessionId: first.id, wait: true });
    const one = await world.json('DELETE', `/api/sessions/${first.id}`);
    expect([one.status, one.body]).toEqual([200, { newLastNotebookId: second.id }]);
    const two = await world.json('DELETE', `/api/sessions/${second.id}`);
    expect(two.body).toEqual({ newLastNotebookId: null });
    expect((await world.json('DELETE', `/api/sessions/${second.id}`)).status).toBe(404);
    await world.settle();
    const { store, queue } = world.services;
    expect(await store.collection(MESSAGES).count({})).toBe(0);
    expect(await store.collection(QUESTS).count({})).toBe(0);
    expect(await queue.counts()).toEqual({ ready: 0, delayed: 0, leased: 0 });
  });

  it.each([
    ['a second', 0, 1000],
    ['a minute', 5000, 60_000],
  ])(
    'clears everything away %s later where a worker was quicker than the deletion',
    async (_, lastsMs, laterMs) => {
      const world = await setUp();
      const { id } = await create(world);
      await world.chat({ message: 'Hi', sessionId: id, wait: true });
      const { store, queue } = world.services;
      const enqueue = queue.enqueue.bind(queue);
      queue.enqueue = async (...args) => {
        const queued = await enqueue(...args);
        await world.settle();
        await world.clock.advance(lastsMs);
        await world.settle();
        return queued;
      };
      await world.json('DELETE', `/api/sessions/${id}`);
      await world.clock.advance(laterMs);
      await world.settle();
      expect(await store.collection(MESSAGES).count({})).toBe(0);
      expect(await store.collection(QUESTS).count({})).toBe(0);
      expect(await queue.counts()).toEqual({ ready: 0, delayed: 0, leased: 0 });
    },
  );

  it('says 409 when the session was changed at the same time, and takes nothing away', async () => {
    const world = await setUp();
    const { id } = await create(world);
    const { queue } = world.services;
    const enqueue = queue.enqueue.bind(queue);
    queue.enqueue = async (...args) => {
      await world.json('PUT', `/api/sessions/${id}`, { body: { name: 'Changed' } });
      return enqueue(...args);
    };
    await world.clock.advance(1);
    const { status, body } = await world.json('DELETE', `/api/sessions/${id}`);
    expect([status, body.error]).toEqual([409, expect.stringContaining('changed at the same time')]);
    queue.enqueue = enqueue;
    await world.chat({ message: 'Hi', sessionId: id, wait: true });
    for (let step = 0; step < 14; step += 1) {
      await world.clock.advance(5000);
      await world.settle();
    }
    expect((await world.json('GET', `/api/sessions/${id}`)).body.name).toBe('Changed');
    expect(await world.services.store.collection(MESSAGES).count({})).toBe(2);
    expect(await queue.counts()).toEqual({ ready: 0, delayed: 0, leased: 0 });
  });
});

describe('the list', () => {
  it('holds own sessions, newest first, page by page', async () => {
    const world = await setUp();
    const bob = await world.token(await world.addUser('bob@example.com'));
    await world.json('POST', '/api/v1/sessions', { body: { name: 'his' }, credential: bob });
    const names: string[] = [];
    for (let index = 0; index < 60; index += 1) {
      const { name } = await create(world, { name: `session ${index}` });
      names.unshift(name);
      if (index % 3 === 0) await world.clock.advance(1);
    }
    for (const limit of [1, 7, 25, 100]) {
      const seen: string[] = [];
      let cursor = '';
      for (;;) {
        const { status, body } = await world.json('GET', `/api/v1/sessions?limit=${limit}${cursor}`);
        expect(status).toBe(200);
        seen.push(...body.data.map(({ name }: { name: string }) => name));
        if (body.next_cursor === null) break;
        expect(body.data).toHaveLength(limit);
        cursor = `&cursor=${body.next_cursor}`;
      }
      expect(seen).toEqual(names);
    }
    expect((await world.json('GET', '/api/v1/sessions')).body.data).toHaveLength(25);
  });

  it('can be searched by name, whatever the case', async () => {
    const world = await setUp();
    for (const name of ['Alpha', 'beta', 'ALPHABET', '100%']) await create(world, { name });
    const search = async (text: string) =>
      (await world.json('GET', `/api/v1/sessions?search=${encodeURIComponent(text)}`)).body.data.map(
        ({ name }: { name: string }) => name,
      );
    expect(await search('alpha')).toEqual(['ALPHABET', 'Alpha']);
    expect(await search('%')).toEqual(['100%']);
    expect(await search('')).toHaveLength(4);
    expect((await world.json('GET', `/api/v1/sessions?search=${'x'.repeat(201)}`)).status).toBe(422);
  });

  it('refuses bad limits and cursors', async () => {
    const world = await setUp();
    for (const query of ['limit=0', 'limit=101', 'limit=x', 'cursor=x', 'cursor=']) {
      expect([query, (await world.json('GET', `/api/v1/sessions?${query}`)).status]).toEqual([query, 422]);
    }
  });

  it('refuses a cursor that was written by hand, whatever it would have the storage look for', async () => {
    const world = await setUp();
    for (const name of ['Alpha', 'Beta']) await world.json('POST', '/api/v1/sessions', { body: { name } });
    const { next_cursor } = (await world.json('GET', '/api/v1/sessions?limit=1')).body;
    const [mark, value, id] = JSON.parse(Buffer.from(next_cursor, 'base64url').toString());
    const written = [
      [`"${value}"`, id],
      ['1.5', id],
      ['1e999', id],
      ['null', id],
      [value, `${id}\u0000`],
      [value, '\ud800'],
    ].map(([at, of]) => `["${mark}",${at},${JSON.stringify(of)}]`);
    for (const text of written) {
      const cursor = Buffer.from(text).toString('base64url');
      expect([text, (await world.json('GET', `/api/v1/sessions?cursor=${cursor}`)).status]).toEqual([
        text,
        422,
      ]);
    }
  });

  it('takes no slot of the day', async () => {
    const world = await setUp();
    const left = async () =>
      (await world.json('GET', '/api/v1/sessions')).headers.get('x-ratelimit-remaining-day');
    expect(await left()).toBe(await left());
  });
});

describe('a session', () => {
  it('of nobody, of somebody else or malformed is 404, alike, and stays as it is', async () => {
    const world = await setUp({ onCall: silent });
    const { id } = await create(world);
    const bob = await world.token(await world.addUser('bob@example.com'));
    for (const [method, suffix, body] of [
      ['GET', '', undefined],
      ['PUT', '', { name: 'stolen' }],
      ['DELETE', '', undefined],
      ['POST', '/clone', {}],
    ] as const) {
      const base = method === 'POST' ? '/api/v1/sessions' : '/api/sessions';
      const answers = [];
      for (const [which, credential] of [
        [UNKNOWN, world.key],
        ['no-id', world.key],
        [id, bob],
      ] as const) {
        const path = `${base}/${which}${suffix}`;
        const answer = await world.json(method, path, { credential, ...(body !== undefined && { body }) });
        answers.push([answer.status, answer.body.error]);
      }
      expect(answers).toEqual(Array(3).fill([404, 'Session not found']));
    }
    expect((await world.json('GET', `/api/sessions/${id}`)).body.name).toBe('Mine');
  });
});
