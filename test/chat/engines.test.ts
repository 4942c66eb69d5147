import {
  COLLECTIONS,
  createApi,
  createServices,
  createUser,
  issueApiKey,
  toFetchHandler,
} from '@questline/core';
import { createStoreQueue, MESSAGES, QUESTS } from '@questline/core/internal';
import { createIds, createSystemClock } from '@questline/core/memory';
import { createSqlPorts, migrate } from '@questline/sql';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ENGINES, type OpenEngine } from '../../packages/sql/test/engines.ts';
import { sayAtOnce } from '../support/chat.ts';
import { createScriptedProvider } from '../support/model.ts';

const START = 1_000_000_000_000;
/** 10 input tokens and one output token. */
const CHARGE = 110_000;

/** Two processes on one database: one receives requests, both run jobs. */
async function openTwo(engine: OpenEngine) {
  await migrate(engine.database, { collections: COLLECTIONS });
  const gate = { opened: Promise.resolve() };
  const model = createScriptedProvider(async (call) => {
    await gate.opened;
    sayAtOnce('Hello.')(call);
  });
  const open = (database: OpenEngine['database'], ownQueue: boolean) => {
    const clock = createSystemClock();
    const ids = createIds();
    const ports = createSqlPorts(database, { clock, ids });
    const services = createServices(
      {
        ...ports,
        ...(ownQueue && { queue: createStoreQueue({ store: ports.store, clock, ids }) }),
        models: [model],
        clock,
        ids,
      },
      { jwtSecret: 'a'.repeat(64), admin: { DefaultAPIModel: 'scripted' }, worker: { pollMs: 20 } },
    );
    return { services, api: createApi(services) };
  };
  return { model, gate, open };
}

describe.each(ENGINES)('chat on $name', (kind) => {
  describe.each([false, true])('queue of the store: %s', (ownQueue) => {
    let engine: OpenEngine;
    let two: Awaited<ReturnType<typeof openTwo>>;
    let here: ReturnType<typeof two.open>;
    let there: ReturnType<typeof two.open>;
    let account = '';
    let ask: (
      method: string,
      path: string,
      body?: object,
      key?: string,
    ) => Promise<{ status: number; body: never }>;
    /** Sends a message of `useChat` and reads the answer. @returns the status. */
    let send: (body: object) => Promise<number>;

    beforeAll(async () => {
      engine = await kind.open();
      two = await openTwo(engine);
      here = two.open(engine.database, ownQueue);
      there = two.open(engine.peer(), ownQueue);
      const { services, api } = here;
      const user = await createUser(services, { email: 'ada@example.com', username: 'ada' });
      if (user === undefined) throw new Error('no user');
      account = `user:${user.id}`;
      await services.ledger.grant({ account, amount: START, key: 'start', reason: 'start' });
      const { key: credential } = await issueApiKey(services, {
        userId: user.id,
        name: 'test',
        scopes: ['ai:chat', 'notebooks:read', 'notebooks:write'],
        requestsPerMinute: 100_000,
        requestsPerDay: 100_000,
      });
      const handle = toFetchHandler(api);
      ask = async (method, path, body, key) => {
        const response = await handle(
          new Request(`http://questline.test${path}`, {
            method,
            headers: {
              Authorization: `Bearer ${credential}`,
              'Content-Type': 'application/json',
              ...(key !== undefined && { 'Idempotency-Key': key }),
            },
            ...(body !== undefined && { body: JSON.stringify(body) }),
          }),
        );
        return { status: response?.status ?? 0, body: (await response?.json()) as never };
      };
      send = async (body) => {
        const response = await handle(
          new Request('http://questline.test/api/chat', {
            method: 'POST',
            headers: { Authorization: `Bearer ${credential}`, 'Content-Type': 'application/json' },
            body: JSON.stringify(body),
          }),
        );
        await response?.text();
        return response?.status ?? 0;
      };
      await api.start();
      await there.api.start();
    });

    afterAll(async () => {
      await here.api.close();
      await there.api.close();
      await engine.close();
    });

    it('runs one turn for 50 parallel duplicates with one Idempotency-Key', async () => {
      const before = two.model.calls.length;
      const answers: { status: number; body: { id: string; response: string } }[] = await Promise.all(
        Array.from({ length: 50 }, () => ask('POST', '/api/chat', { message: 'Hi', wait: true }, 'one')),
      );
      expect(new Set(answers.map(({ status, body }) => `${status} ${body.id} ${body.response}`)).size).toBe(
        1,
      );
      expect(answers[0]).toMatchObject({ status: 200, body: { response: 'Hello.' } });
      expect(two.model.calls.length - before).toBe(1);
    });

    it('ends and charges each of 40 parallel turns once with two processes', async () => {
      const { posted: before } = await here.services.ledger.balance(account);
      const answers: { body: { status: string; response: string; sessionId: string } }[] = await Promise.all(
        Array.from({ length: 40 }, () => ask('POST', '/api/chat', { message: 'Hi', wait: true })),
      );
      for (const { body } of answers) expect(body).toMatchObject({ status: 'done', response: 'Hello.' });
      const { posted, held } = await here.services.ledger.balance(account);
      expect([before - posted, held]).toEqual([40 * CHARGE, 0]);
      const messages = here.services.store.collection(MESSAGES);
      for (const { body } of answers) expect(await messages.count({ sessionId: body.sessionId })).toBe(2);
    });

    it('replaces messages once for parallel regenerations and edits', async () => {
      const say = (id: string, text: string) => ({ id, role: 'user', parts: [{ type: 'text', text }] });
      const chat = (...messages: object[]) => ({ id: 'rivers', messages });
      for (const id of ['One', 'Two', 'Three']) expect(await send(chat(say(id, id)))).toBe(200);
      const read = async () => {
        const { body } = (await ask('GET', '/api/chat/rivers/messages')) as {
          body: { data: { id: string; parts: { text?: string }[] }[] };
        };
        return body.data.map(({ parts }) => parts.map(({ text }) => text ?? '').join(''));
      };
      const before = two.model.calls.length;
      const repeat = { ...chat(say('Two', 'Two')), trigger: 'regenerate-message', messageId: 'Two' };
      const edit = { ...chat(say('Two', 'Too')), messageId: 'Two' };
      // The first turn answers when all others are refused.
      let refused = 0;
      let openGate = (): void => undefined;
      two.gate.opened = new Promise((resolve) => {
        openGate = resolve;
      });
      const statuses = await Promise.all(
        [repeat, edit, repeat, edit, repeat].map(async (body) => {
          const status = await send(body);
          refused += Number(status === 409);
          if (refused === 4) openGate();
          return status;
        }),
      );
      expect(statuses.toSorted()).toEqual([200, 409, 409, 409, 409]);
      expect(two.model.calls.length - before).toBe(1);
      expect(await read()).toEqual(['One', 'Hello.', expect.stringMatching(/^T[wo]o$/), 'Hello.']);
      expect(await send({ ...chat(say('One', 'Won')), messageId: 'One' })).toBe(200);
      expect(await read()).toEqual(['Won', 'Hello.']);
    });

    it('continues, copies, lists, searches and deletes a conversation', async () => {
      const { body: first } = (await ask('POST', '/api/chat', { message: 'First word', wait: true })) as {
        body: { sessionId: string };
      };
      await ask('POST', '/api/chat', { message: 'More', sessionId: first.sessionId, wait: true });
      expect(two.model.calls.at(-1)?.request.messages).toHaveLength(4);
      const { body: copy } = (await ask('POST', `/api/v1/sessions/${first.sessionId}/clone`, {})) as {
        body: { id: string };
      };
      const { body: page } = (await ask('GET', '/api/v1/sessions?search=FIRST&limit=1')) as {
        body: { data: { id: string }[]; next_cursor: string };
      };
      expect(page.data.map(({ id }) => id)).toEqual([copy.id]);
      const { body: rest } = (await ask(
        'GET',
        `/api/v1/sessions?search=FIRST&cursor=${page.next_cursor}`,
      )) as { body: { data: { id: string }[] } };
      expect(rest.data.map(({ id }) => id)).toEqual([first.sessionId]);
      expect((await ask('DELETE', `/api/sessions/${first.sessionId}`)).status).toBe(200);
      const { store } = here.services;
      const left = async () =>
        (await store.collection(MESSAGES).count({ sessionId: first.sessionId })) +
        (await store.collection(QUESTS).count({ sessionId: first.sessionId }));
      await expect.poll(left, { timeout: 10_000 }).toBe(0);
      expect(await store.collection(MESSAGES).count({ sessionId: copy.id })).toBe(4);
    });
  });
});
