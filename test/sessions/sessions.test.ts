import { type LinkReader, MESSAGES, QUESTS, SESSIONS, STORAGE_USAGE } from '@questline/core/internal';
import { describe, expect, it } from 'vitest';
import { type ChatApp, type ChatAppOptions, createChatApp, silent } from '../support/chat.ts';

const UNKNOWN = '0'.repeat(24);
const KNOWN = 'a'.repeat(24);

const links: LinkReader = {
  findReadable: async (kind, ids) => new Set(ids.filter((id) => kind !== 'agent' && id === KNOWN)),
  findExisting: async (_kind, ids) => new Set(ids),
};

const setUp = (options: ChatAppOptions = {}) =>
  createChatApp({ services: (services) => ({ ...services, links }), ...options });

const create = async (app: ChatApp, body: object = { name: 'Mine' }) =>
  (await app.json('POST', '/api/v1/sessions', { body })).body;

const FULL = {
  knowledgeIds: [KNOWN],
  artifactIds: [KNOWN],
  agentIds: [],
  tags: [{ name: 'physics', strength: 0.5 }],
  forceKnowledgeRetrieval: true,
  retrievalTags: ['books'],
  includeLibraryFiles: true,
  dataLakeId: KNOWN,
};

const HIDDEN = {
  systemPromptText: 'Be kind.',
  enabledTools: ['dice'],
  disabledTools: ['clock'],
  temperature: 1.5,
  maxToolCalls: 3,
};

describe('creating a session', () => {
  it('requires only a name', async () => {
    const app = await setUp();
    const { status, body } = await app.json('POST', '/api/v1/sessions', { body: { name: 'Mine' } });
    expect([status, body]).toEqual([
      200,
      {
        id: expect.stringMatching(/^[0-9a-f]{24}$/),
        name: 'Mine',
        userId: app.user.id,
        knowledgeIds: [],
        artifactIds: [],
        agentIds: [],
        tags: [],
        dataLakeId: null,
        projectId: null,
        lastUsedModel: null,
        forceKnowledgeRetrieval: false,
        retrievalTags: [],
        includeLibraryFiles: false,
        firstCreated: '2026-11-21T12:00:00.000Z',
        lastUpdated: '2026-11-21T12:00:00.000Z',
      },
    ]);
    expect((await app.json('GET', `/api/sessions/${body.id}`)).body).toEqual(body);
  });

  it('accepts every setting and returns the visible ones', async () => {
    const app = await setUp();
    const body = await create(app, {
      name: 'Full',
      ...FULL,
      ...HIDDEN,
      unknown: 1,
      id: UNKNOWN,
      userId: UNKNOWN,
    });
    expect(body).toMatchObject({ name: 'Full', userId: app.user.id, ...FULL });
    for (const name of Object.keys(HIDDEN)) expect(body).not.toHaveProperty(name);
    const { body: answer } = await app.chat({
      message: 'Hi',
      sessionId: body.id,
      wait: true,
      includeSystemPrompt: true,
    });
    expect(answer.promptText).toMatch(/Be kind\.$/);
    expect(app.calls[0]?.request.temperature).toBe(1.5);
    await app.chat({ message: 'Hi', sessionId: body.id, wait: true, temperature: 0 });
    expect(app.calls[1]?.request.temperature).toBe(0);
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
    ['dataLakeId', [7], [KNOWN, null]],
  ])('checks the bounds of %s', async (name, refused, taken) => {
    const app = await setUp();
    for (const value of refused) {
      const { status, body } = await app.json('POST', '/api/v1/sessions', {
        body: { name: 'x', [name]: value },
      });
      expect([value, status, body.error]).toEqual([value, 422, expect.stringContaining(name)]);
    }
    for (const value of taken) {
      const { status } = await app.json('POST', '/api/v1/sessions', { body: { name: 'x', [name]: value } });
      expect([value, status]).toEqual([value, 200]);
    }
  });

  it('answers 404 for a link that the caller cannot read', async () => {
    const app = await setUp();
    for (const [field, what] of [
      ['knowledgeIds', 'File'],
      ['artifactIds', 'Artifact'],
      ['agentIds', 'Agent'],
    ]) {
      for (const id of [UNKNOWN, 'no id', '']) {
        const { status, body } = await app.json('POST', '/api/v1/sessions', {
          body: { name: 'x', [field ?? '']: [id] },
        });
        const named = id === UNKNOWN ? `${what} ${id}` : what;
        expect([status, body.error]).toEqual([404, `${named} not found`]);
      }
    }
    const { status, body } = await app.json('POST', '/api/v1/sessions', {
      body: { name: 'x', dataLakeId: UNKNOWN },
    });
    expect([status, body.error]).toEqual([404, `Data lake ${UNKNOWN} not found`]);
    expect((await app.json('GET', '/api/v1/sessions')).body.data).toEqual([]);
  });
});

describe('updating a session', () => {
  it('changes only the named fields', async () => {
    const app = await setUp();
    const before = await create(app, { name: 'Before', ...FULL });
    await app.clock.advance(1000);
    const { status, body } = await app.json('PUT', `/api/sessions/${before.id}`, {
      body: { name: 'After', knowledgeIds: [], userId: UNKNOWN, lastUsedModel: 'x' },
    });
    expect([status, body]).toEqual([
      200,
      { ...before, name: 'After', knowledgeIds: [], lastUpdated: '2026-11-21T12:00:01.000Z' },
    ]);
    for (const wrong of [{ name: '' }, { name: null }, { temperature: 3 }])
      expect((await app.json('PUT', `/api/sessions/${before.id}`, { body: wrong })).status).toBe(422);
    expect(
      (await app.json('PUT', `/api/sessions/${before.id}`, { body: { agentIds: [KNOWN] } })).status,
    ).toBe(404);
    expect((await app.json('GET', `/api/sessions/${before.id}`)).body).toEqual(body);
  });
});

describe('the storage of a session', () => {
  it('is counted exactly, also of one that was not counted before', async () => {
    const app = await setUp();
    const { store } = app.services;
    const usage = async () => (await store.collection(STORAGE_USAGE).get(`${app.user.id}:sessions`))?.bytes;
    const { id } = await create(app);
    const put = (systemPromptText: string) =>
      app.json('PUT', `/api/sessions/${id}`, { body: { systemPromptText } });
    const sizes = [await usage()];
    for (const text of ['', 'x'.repeat(500), 'x'.repeat(20), 'x'.repeat(20)]) {
      await put(text);
      sizes.push(await usage());
      expect((await store.collection(SESSIONS).get(id))?.bytes).toBe(await usage());
    }
    const [before = 0, empty = 0, ...others] = sizes;
    expect(empty).toBeGreaterThan(before);
    expect(others).toEqual([empty + 500, empty + 20, empty + 20]);
    await store.collection(SESSIONS).update(id, { bytes: undefined });
    await put('x'.repeat(30));
    expect(await usage()).toBe(2 * empty + 50);
  });
});

describe('cloning a session', () => {
  it('keeps every setting', async () => {
    const app = await setUp();
    const settings = { ...FULL, ...HIDDEN };
    const { id } = await create(app, { name: 'One', ...settings });
    const agentIds = [UNKNOWN];
    await app.services.store.collection(SESSIONS).update(id, { agentIds });
    const { body } = await app.json('POST', `/api/v1/sessions/${id}/clone`, { body: {} });
    const stored = await app.services.store.collection(SESSIONS).get(body.id);
    expect(stored).toMatchObject({ ...settings, agentIds });
  });

  it('copies messages and settings into an own session', async () => {
    const app = await setUp();
    const original = await create(app, { name: 'x'.repeat(255), ...FULL, ...HIDDEN });
    for (const message of ['One', 'Two']) {
      await app.chat({ message, sessionId: original.id, wait: true });
      await app.clock.advance(1);
    }
    const { status, body: copy } = await app.json('POST', `/api/v1/sessions/${original.id}/clone`, {
      body: { targetSurface: 'web' },
    });
    expect(status).toBe(200);
    expect(copy).toMatchObject({ ...FULL, name: `${'x'.repeat(248)} (copy)`, userId: app.user.id });
    expect(copy.id).not.toBe(original.id);
    await app.json('DELETE', `/api/sessions/${original.id}`);
    await app.clock.advance(1);
    await app.chat({ message: 'Three', sessionId: copy.id, wait: true });
    expect(app.calls.at(-1)?.request.messages.map(({ content }) => content[0])).toEqual([
      expect.objectContaining({ text: expect.stringContaining('Be kind.') }),
      { type: 'text', text: 'One' },
      { type: 'text', text: 'Hello.' },
      { type: 'text', text: 'Two' },
      { type: 'text', text: 'Hello.' },
      { type: 'text', text: 'Three' },
    ]);
  });

  it('keeps the order of a long conversation', async () => {
    const app = await setUp();
    const { id } = await create(app);
    const messages = app.services.store.collection(MESSAGES);
    for (let index = 0; index < 1100; index += 1) {
      await messages.insert({
        id: app.services.ids.next(),
        sessionId: id,
        ownerId: app.user.id,
        role: index % 2 === 0 ? 'user' : 'assistant',
        content: String(index),
        createdAt: Math.floor(index / 2),
      });
    }
    const { body } = await app.json('POST', `/api/v1/sessions/${id}/clone`, { body: {} });
    const copied = await messages.find(
      { sessionId: body.id },
      { order: { field: 'createdAt', direction: 'asc' }, offset: 100 },
    );
    expect(copied.map(({ content }) => Number(content))).toEqual(
      Array.from({ length: 1000 }, (_, n) => n + 100),
    );
  });
});

describe('deleting a session', () => {
  it('deletes all data of this session and returns the latest remaining one', async () => {
    const app = await setUp();
    const first = await create(app, { name: 'first' });
    await app.clock.advance(1);
    const second = await create(app, { name: 'second' });
    await app.clock.advance(1);
    await app.chat({ message: 'Hi', sessionId: first.id, wait: true });
    const one = await app.json('DELETE', `/api/sessions/${first.id}`);
    expect([one.status, one.body]).toEqual([200, { newLastNotebookId: second.id }]);
    const two = await app.json('DELETE', `/api/sessions/${second.id}`);
    expect(two.body).toEqual({ newLastNotebookId: null });
    expect((await app.json('DELETE', `/api/sessions/${second.id}`)).status).toBe(404);
    await app.clock.advance(1000);
    await app.settle();
    const { store, queue } = app.services;
    expect(await store.collection(MESSAGES).count({})).toBe(0);
    expect(await store.collection(QUESTS).count({})).toBe(0);
    expect(await queue.counts()).toEqual({ ready: 0, delayed: 0, leased: 0 });
  });

  it('returns the session of the caller that changed last', async () => {
    const app = await setUp();
    const bob = await app.token(await app.addUser('bob@example.com'));
    const ids: string[] = [];
    for (const name of ['first', 'second', 'third']) {
      ids.push((await create(app, { name })).id);
      await app.clock.advance(1);
    }
    const [first, second, third] = ids;
    await app.json('PUT', `/api/sessions/${second}`, { body: { name: 'changed' } });
    await app.clock.advance(1);
    await app.json('POST', '/api/v1/sessions', { body: { name: 'his' }, credential: bob });
    expect((await app.json('DELETE', `/api/sessions/${third}`)).body).toEqual({ newLastNotebookId: second });
    expect((await app.json('DELETE', `/api/sessions/${second}`)).body).toEqual({ newLastNotebookId: first });
  });

  it.each([
    ['a second', 0, 1000],
    ['a minute', 5000, 60_000],
  ])('deletes everything %s later when a worker writes during the deletion', async (_, lastsMs, laterMs) => {
    const app = await setUp();
    const { id } = await create(app);
    await app.chat({ message: 'Hi', sessionId: id, wait: true });
    const { store, queue } = app.services;
    const enqueue = queue.enqueue.bind(queue);
    queue.enqueue = async (...args) => {
      const queued = await enqueue(...args);
      await app.settle();
      await app.clock.advance(lastsMs);
      await app.settle();
      return queued;
    };
    await app.json('DELETE', `/api/sessions/${id}`);
    await app.clock.advance(laterMs);
    await app.settle();
    expect(await store.collection(MESSAGES).count({})).toBe(0);
    expect(await store.collection(QUESTS).count({})).toBe(0);
    expect(await queue.counts()).toEqual({ ready: 0, delayed: 0, leased: 0 });
  });

  it('answers 409 and deletes nothing when the session was changed in parallel', async () => {
    const app = await setUp();
    const { id } = await create(app);
    const { queue } = app.services;
    const enqueue = queue.enqueue.bind(queue);
    queue.enqueue = async (...args) => {
      await app.json('PUT', `/api/sessions/${id}`, { body: { name: 'Changed' } });
      return enqueue(...args);
    };
    await app.clock.advance(1);
    const { status, body } = await app.json('DELETE', `/api/sessions/${id}`);
    expect([status, body.error]).toEqual([409, expect.stringContaining('changed concurrently')]);
    queue.enqueue = enqueue;
    await app.chat({ message: 'Hi', sessionId: id, wait: true });
    for (let step = 0; step < 14; step += 1) {
      await app.clock.advance(5000);
      await app.settle();
    }
    expect((await app.json('GET', `/api/sessions/${id}`)).body.name).toBe('Changed');
    expect(await app.services.store.collection(MESSAGES).count({})).toBe(2);
    expect(await queue.counts()).toEqual({ ready: 0, delayed: 0, leased: 0 });
  });
});

describe('list of sessions at its older path', () => {
  it('contains own sessions, newest first, by page number and by name', async () => {
    const app = await setUp();
    const bob = await app.token(await app.addUser('bob@example.com'));
    await app.json('POST', '/api/v1/sessions', { body: { name: 'his' }, credential: bob });
    for (const name of ['one', 'two', 'three']) {
      await create(app, { name });
      await app.clock.advance(1);
    }
    const list = async (query = '') => {
      const credential = await app.token();
      const { body } = await app.json('GET', `/api/sessions?${query}`, { credential });
      return [body.data.map(({ name }: { name: string }) => name), body.hasMore];
    };
    expect(await list()).toEqual([['three', 'two', 'one'], false]);
    expect(await list('pagination[limit]=2')).toEqual([['three', 'two'], true]);
    expect(await list('pagination[limit]=2&pagination[page]=2')).toEqual([['one'], false]);
    expect(await list('search=T')).toEqual([['three', 'two'], false]);
    expect(await list('search=')).toEqual([['three', 'two', 'one'], false]);
  });
});

describe('list of sessions', () => {
  it('contains own sessions, newest first, page by page', async () => {
    const app = await setUp();
    const bob = await app.token(await app.addUser('bob@example.com'));
    await app.json('POST', '/api/v1/sessions', { body: { name: 'his' }, credential: bob });
    const names: string[] = [];
    for (let index = 0; index < 60; index += 1) {
      const { name } = await create(app, { name: `session ${index}` });
      names.unshift(name);
      if (index % 3 === 0) await app.clock.advance(1);
    }
    for (const limit of [1, 7, 25, 100]) {
      const seen: string[] = [];
      let cursor = '';
      for (;;) {
        const { status, body } = await app.json('GET', `/api/v1/sessions?limit=${limit}${cursor}`);
        expect(status).toBe(200);
        seen.push(...body.data.map(({ name }: { name: string }) => name));
        if (body.next_cursor === null) break;
        expect(body.data).toHaveLength(limit);
        cursor = `&cursor=${body.next_cursor}`;
      }
      expect(seen).toEqual(names);
    }
    expect((await app.json('GET', '/api/v1/sessions')).body.data).toHaveLength(25);
  });

  it('can be searched by name, ignoring case', async () => {
    const app = await setUp();
    for (const name of ['Alpha', 'beta', 'ALPHABET', '100%']) await create(app, { name });
    const search = async (text: string) =>
      (await app.json('GET', `/api/v1/sessions?search=${encodeURIComponent(text)}`)).body.data.map(
        ({ name }: { name: string }) => name,
      );
    expect(await search('alpha')).toEqual(['ALPHABET', 'Alpha']);
    expect(await search('%')).toEqual(['100%']);
    expect(await search('')).toHaveLength(4);
    expect((await app.json('GET', `/api/v1/sessions?search=${'x'.repeat(201)}`)).status).toBe(422);
  });

  it('rejects invalid limits and cursors', async () => {
    const app = await setUp();
    for (const query of ['limit=0', 'limit=101', 'limit=x', 'cursor=x', 'cursor=']) {
      expect([query, (await app.json('GET', `/api/v1/sessions?${query}`)).status]).toEqual([query, 422]);
    }
  });

  it('rejects a forged cursor, whatever it would request from the store', async () => {
    const app = await setUp();
    for (const name of ['Alpha', 'Beta']) await app.json('POST', '/api/v1/sessions', { body: { name } });
    const { next_cursor } = (await app.json('GET', '/api/v1/sessions?limit=1')).body;
    const [mark, value, id] = JSON.parse(Buffer.from(next_cursor ?? '', 'base64url').toString());
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
      expect([text, (await app.json('GET', `/api/v1/sessions?cursor=${cursor}`)).status]).toEqual([
        text,
        422,
      ]);
    }
  });

  it('does not count against the daily limit', async () => {
    const app = await setUp();
    const left = async () =>
      (await app.json('GET', '/api/v1/sessions')).headers.get('x-ratelimit-remaining-day');
    expect(await left()).toBe(await left());
  });
});

describe('session of another user', () => {
  it('answers 404 like an unknown or malformed one and stays unchanged', async () => {
    const app = await setUp({ onCall: silent });
    const { id } = await create(app);
    const bob = await app.token(await app.addUser('bob@example.com'));
    for (const [method, suffix, body] of [
      ['GET', '', undefined],
      ['PUT', '', { name: 'stolen' }],
      ['DELETE', '', undefined],
      ['POST', '/clone', {}],
    ] as const) {
      const base = method === 'POST' ? '/api/v1/sessions' : '/api/sessions';
      const answers = [];
      for (const [which, credential] of [
        [UNKNOWN, app.key],
        ['no-id', app.key],
        [id, bob],
      ] as const) {
        const path = `${base}/${which}${suffix}` as const;
        const answer = await app.json(method, path, { credential, ...(body !== undefined && { body }) });
        answers.push([answer.status, answer.body.error]);
      }
      expect(answers).toEqual(Array(3).fill([404, 'Session not found']));
    }
    expect((await app.json('GET', `/api/sessions/${id}`)).body.name).toBe('Mine');
  });
});
