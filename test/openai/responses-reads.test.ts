import { RESPONSES } from '@questline/core/internal';
import { describe, expect, it } from 'vitest';
import { silent } from '../support/chat.ts';
import { reason } from '../support/vendor-wire.ts';
import { createOpenAIApp, readError, untilCalled } from './support.ts';
import { QUESTION, readEvents } from './support-responses.ts';

const user = (content: string) => ({ role: 'user' as const, content });

describe('stored response', () => {
  it('is read, stopped and deleted with status 200', async () => {
    const app = await createOpenAIApp({ onCall: reason });
    const { id } = await app.client.responses.create(QUESTION);
    for (const [method, path] of [
      ['GET', ''],
      ['GET', '?stream=true'],
      ['GET', '/input_items'],
      ['POST', '/cancel'],
      ['DELETE', ''],
    ] as const) {
      const { status } = await app.send(method, `/responses/${id}${path}`);
      expect([method, path, status]).toEqual([method, path, 200]);
    }
  });

  it('is streamed with status 200 while it is made', async () => {
    const app = await createOpenAIApp({ onCall: silent });
    const { id } = await app.client.responses.create({ ...QUESTION, background: true });
    const leaving = new AbortController();
    const answer = await fetch(`${app.baseURL}/responses/${id}?stream=true`, {
      headers: { Authorization: `Bearer ${app.key}` },
      signal: leaving.signal,
    });
    expect(answer.status).toBe(200);
    leaving.abort();
    await expect(answer.text()).rejects.toThrow();
  });

  it('is gone to all but one who delete it at the same time', async () => {
    const app = await createOpenAIApp({ onCall: reason });
    const { id } = await app.client.responses.create(QUESTION);
    const answers = await Promise.all(
      Array.from({ length: 3 }, () => app.send('DELETE', `/responses/${id}`)),
    );
    expect(answers.map(({ status }) => status).toSorted()).toEqual([200, 404, 404]);
  });

  it('names its last event to a client that asks for later ones', async () => {
    const app = await createOpenAIApp({ onCall: reason });
    const { id } = await app.client.responses.create(QUESTION);
    const read = (query: string) => app.send('GET', `/responses/${id}${query}`);
    const last = (await readEvents(await read('?stream=true'))).length - 1;
    expect(await readEvents(await read(`?stream=true&starting_after=${last - 1}`))).toHaveLength(1);
    const late = await read(`?stream=true&starting_after=${last + 1}`);
    expect([late.status, await readError(late)]).toMatchObject([
      400,
      { param: 'starting_after', message: expect.stringContaining(`last event of this response is ${last}`) },
    ]);
  });

  it('cannot be stopped by another user', async () => {
    const app = await createOpenAIApp({ onCall: silent });
    const { id } = await app.client.responses.create({ ...QUESTION, background: true });
    const stranger = await app.addUser('eve@example.com');
    const { key } = await app.issue({ userId: stranger.id, scopes: ['ai:chat'] });
    const stopped = await app.send('POST', `/responses/${id}/cancel`, undefined, {
      Authorization: `Bearer ${key}`,
    });
    expect(stopped.status).toBe(404);
    const { status } = await app.client.responses.retrieve(id);
    expect(['queued', 'in_progress']).toContain(status);
  });

  it.each([
    ['GET', ''],
    ['GET', '/input_items'],
    ['POST', '/cancel'],
    ['DELETE', ''],
  ])('is not found by a text that is no id: %s %s', async (method, path) => {
    const app = await createOpenAIApp();
    const answer = await app.send(method, `/responses/none${path}`);
    expect([answer.status, (await readError(answer)).message]).toEqual([404, 'Response not found']);
  });
});

describe('response that only its conversation keeps', () => {
  it('is unknown by its id while it is made', async () => {
    const app = await createOpenAIApp({ onCall: silent });
    const conversation = (await app.client.conversations.create()).id;
    const leaving = new AbortController();
    const answering = app.client.responses
      .create({ ...QUESTION, conversation, store: false }, { signal: leaving.signal })
      .catch(() => undefined);
    await untilCalled(app);
    const [made] = await app.services.store.collection(RESPONSES).find({});
    const id = `resp_${made?.id}`;
    for (const [method, path] of [
      ['GET', ''],
      ['GET', '/input_items'],
      ['POST', '/cancel'],
      ['DELETE', ''],
    ] as const) {
      const answer = await app.send(method, `/responses/${id}${path}`);
      expect([method, path, answer.status, (await readError(answer)).message]).toEqual([
        ...[method, path, 404],
        `Response with id '${id}' not found.`,
      ]);
    }
    leaving.abort();
    await answering;
  });
});

describe('input items of a response', () => {
  it('come page by page, with the ids of the first and the last one', async () => {
    const app = await createOpenAIApp({ onCall: reason });
    const { id } = await app.client.responses.create({
      ...QUESTION,
      input: ['a', 'b', 'c'].map(user),
    });
    const read = async (query: string) => {
      const answer = await app.send('GET', `/responses/${id}/input_items?${query}`);
      const { data, ...page } = (await answer.json()) as { data: { id: string }[] };
      return { ...page, ids: data.map((item) => item.id) };
    };
    const { ids } = await read('order=asc');
    const [a, b, c] = ids;
    expect(ids).toHaveLength(3);
    const page = (some: unknown[], has_more: boolean) => ({
      object: 'list',
      has_more,
      first_id: some[0] ?? '',
      last_id: some.at(-1) ?? '',
      ids: some,
    });
    expect(await read('order=asc&limit=2')).toEqual(page([a, b], true));
    expect(await read('order=asc&limit=3')).toEqual(page([a, b, c], false));
    expect(await read(`order=asc&limit=1&after=${a}`)).toEqual(page([b], true));
    expect(await read(`order=asc&limit=2&after=${a}`)).toEqual(page([b, c], false));
    expect(await read(`order=asc&after=${c}`)).toEqual(page([], false));
    expect(await read('limit=2')).toEqual(page([c, b], true));
  });
});
