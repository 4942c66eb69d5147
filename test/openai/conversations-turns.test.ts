import { COLLECTIONS } from '@questline/core';
import { CONVERSATION_ENTRIES, CONVERSATIONS } from '@questline/core/internal';
import { ProviderError } from '@questline/core/ports';
import { describe, expect, it } from 'vitest';
import { sayAtOnce, silent } from '../support/chat.ts';
import { reason } from '../support/vendor-wire.ts';
import { createOpenAIApp, type OpenAIApp, readError, untilCalled } from './support.ts';
import { QUESTION, readEvents } from './support-responses.ts';

const SECRET = 'a text of this test only';
const user = (content: string) => ({ role: 'user' as const, content });

async function list({ client }: OpenAIApp, id: string): Promise<readonly { id: string; type: string }[]> {
  const page = await client.conversations.items.list(id, { order: 'asc', limit: 100 });
  return page.data as { id: string; type: string }[];
}

async function create({ client }: OpenAIApp): Promise<string> {
  return (await client.conversations.create()).id;
}

async function untilEnded(app: OpenAIApp, id: string): Promise<string | undefined> {
  for (let count = 0; count < 50; count += 1) {
    const { status } = await app.client.responses.retrieve(id);
    if (status !== 'queued' && status !== 'in_progress') return status;
    await app.settle();
  }
  throw new Error('the response has not ended');
}

async function dump({ services: { store } }: OpenAIApp): Promise<string> {
  const content = await Promise.all(COLLECTIONS.map((shape) => store.collection(shape as never).find({})));
  return JSON.stringify(content);
}

describe('a response in a conversation', () => {
  it('locks it until its end, and adds its items only then', async () => {
    const app = await createOpenAIApp({ onCall: silent });
    const conversation = await create(app);
    const first = await app.client.responses.create({ ...QUESTION, conversation, background: true });
    await untilCalled(app);
    for (const stream of [false, true]) {
      const refused = await app.send('POST', '/responses', { ...QUESTION, conversation, stream });
      expect([refused.status, await readError(refused)]).toEqual([
        409,
        {
          message: expect.stringContaining('has not ended'),
          type: 'invalid_request_error',
          param: 'conversation',
          code: 'conversation_locked',
        },
      ]);
    }
    expect(await list(app, conversation)).toEqual([]);
    app.calls[0]?.say({ type: 'text', text: 'Rain.' }, { type: 'finish', reason: 'stop' });
    app.calls[0]?.end();
    expect(await untilEnded(app, first.id)).toBe('completed');
    expect(await list(app, conversation)).toHaveLength(2);
    expect(app.calls).toHaveLength(1);
    expect(await app.client.responses.create({ ...QUESTION, conversation, background: true })).toMatchObject({
      status: 'queued',
    });
  });

  it('is the only one of several at the same time', async () => {
    const app = await createOpenAIApp({ onCall: sayAtOnce('Rain.') });
    const conversation = await create(app);
    const all = await Promise.all(
      Array.from({ length: 8 }, () => app.send('POST', '/responses', { ...QUESTION, conversation })),
    );
    const answered = all.filter(({ status }) => status === 200).length;
    expect(answered).toBeGreaterThan(0);
    expect(all.map(({ status }) => status).filter((status) => status !== 200 && status !== 409)).toEqual([]);
    expect(await list(app, conversation)).toHaveLength(2 * answered);
    expect(await app.ledger.charges({ account: app.account }, 100)).toHaveLength(answered);
    // No answer was given without the turns before it.
    const asked = app.calls.map(({ request }) => request.messages.length);
    expect(asked).toEqual(asked.map((_, turn) => 2 * turn + 1));
  });

  it('adds nothing when it is cancelled, and unlocks the conversation', async () => {
    const app = await createOpenAIApp({ onCall: silent });
    const conversation = await create(app);
    const { id } = await app.client.responses.create({ ...QUESTION, conversation, background: true });
    await untilCalled(app);
    app.calls[0]?.say({ type: 'text', text: 'One two' });
    await app.settle();
    await app.client.responses.cancel(id);
    await app.calls[0]?.whenStopped;
    await app.settle();
    expect(await list(app, conversation)).toEqual([]);
    const next = await app.client.responses.create({ ...QUESTION, conversation, background: true });
    await untilCalled(app, 2);
    app.calls[1]?.say({ type: 'text', text: 'Rain.' }, { type: 'finish', reason: 'stop' });
    app.calls[1]?.end();
    expect(await untilEnded(app, next.id)).toBe('completed');
    expect(await list(app, conversation)).toHaveLength(2);
  });

  it('adds nothing when it fails, before any output and in the middle', async () => {
    let isBegun = false;
    const app = await createOpenAIApp({
      onCall(call) {
        if (isBegun) call.say({ type: 'text', text: 'One' });
        call.fail(new ProviderError('invalid_request', 'no'));
      },
    });
    const conversation = await create(app);
    for (const begun of [false, true]) {
      isBegun = begun;
      const failed = await app.send('POST', '/responses', { ...QUESTION, conversation });
      expect(failed.status).toBeGreaterThanOrEqual(400);
      expect(await list(app, conversation)).toEqual([]);
    }
    expect((await app.ledger.balance(app.account)).held).toBe(0);
  });

  it('adds an answer that reached its limit', async () => {
    const app = await createOpenAIApp({
      onCall(call) {
        call.say({ type: 'text', text: 'One two' }, { type: 'finish', reason: 'max_tokens' });
        call.end();
      },
    });
    const conversation = await create(app);
    const answered = await app.client.responses.create({ ...QUESTION, conversation });
    expect(answered.status).toBe('incomplete');
    const items = await list(app, conversation);
    expect(items.slice(1)).toEqual(answered.output);
    await app.client.conversations.items.delete(items[0]?.id ?? '', { conversation_id: conversation });
    expect(await list(app, conversation)).toEqual(answered.output);
  });

  it.each([false, true])(
    'is kept by the conversation only when store is false (stream: %s)',
    async (stream) => {
      const app = await createOpenAIApp({ onCall: reason });
      const conversation = await create(app);
      const answer = await app.send('POST', '/responses', {
        ...QUESTION,
        input: SECRET,
        conversation,
        store: false,
        stream,
      });
      const text = await answer.text();
      expect(text).toContain('"store":false');
      await app.settle();
      expect(await list(app, conversation)).toHaveLength(3);
      const id = /"id":"(resp_[0-9a-f]{24})"/.exec(text)?.[1] ?? '';
      expect((await app.send('GET', `/responses/${id}`)).status).toBe(404);
      const chained = await app.send('POST', '/responses', { ...QUESTION, previous_response_id: id });
      expect([chained.status, (await readError(chained)).code]).toEqual([400, 'previous_response_not_found']);
      for (const { id: item } of await list(app, conversation)) {
        await app.client.conversations.items.delete(item, { conversation_id: conversation }).catch(() => 0);
      }
      await app.services.eventLog.expire();
      expect(await list(app, conversation)).toEqual([]);
      expect((await dump(app)).split(SECRET)).toHaveLength(1);
      await app.client.responses.create({ ...QUESTION, conversation });
      expect(await app.ledger.charges({ account: app.account }, 10)).toHaveLength(2);
    },
  );

  it.each([true, false])('is made and added once per Idempotency-Key (store: %s)', async (store) => {
    const app = await createOpenAIApp({ onCall: reason });
    const conversation = await create(app);
    const body = { ...QUESTION, conversation, store };
    const send = () => app.send('POST', '/responses', body, { 'Idempotency-Key': 'one' });
    const first = await send();
    const repeated = await send();
    expect(repeated.headers.get('idempotent-replayed')).toBe('true');
    const answer = (await first.json()) as { id: string };
    expect(await repeated.json()).toEqual(answer);
    expect(await list(app, conversation)).toHaveLength(3);
    expect(app.calls).toHaveLength(1);
    expect((await app.send('GET', `/responses/${answer.id}`)).status).toBe(store ? 200 : 404);
  });

  it('has no previous response, and is continued by its conversation', async () => {
    const app = await createOpenAIApp({ onCall: reason });
    const conversation = await create(app);
    const { id } = await app.client.responses.create({ ...QUESTION, conversation });
    for (const fields of [{ conversation, previous_response_id: id }, { previous_response_id: id }]) {
      const refused = await app.send('POST', '/responses', { ...QUESTION, ...fields });
      expect([refused.status, (await readError(refused)).param]).toEqual([400, 'previous_response_id']);
    }
    expect(app.calls).toHaveLength(1);
  });

  it('outlives its conversation, which is deleted with its session', async () => {
    const app = await createOpenAIApp({ onCall: reason });
    const conversation = await create(app);
    await app.client.conversations.items.create(conversation, { items: [user(SECRET)] });
    const { id } = await app.client.responses.create({ ...QUESTION, conversation });
    const session = conversation.slice('conv_'.length);
    expect((await app.json('DELETE', `/api/sessions/${session}`)).status).toBe(200);
    for (const path of ['', '/items']) {
      expect((await app.send('GET', `/conversations/${conversation}${path}`)).status).toBe(404);
    }
    const refused = await app.send('POST', '/responses', { ...QUESTION, conversation });
    expect(refused.status).toBe(404);
    await app.clock.advance(5000);
    await app.settle();
    expect(await app.services.store.collection(CONVERSATIONS).count({})).toBe(0);
    expect(await app.services.store.collection(CONVERSATION_ENTRIES).count({})).toBe(0);
    expect(await app.client.responses.retrieve(id)).toMatchObject({ status: 'completed' });
    await app.client.responses.delete(id);
    const [usage] = await app.services.store
      .collection(COLLECTIONS.find(({ name }) => name === 'storage_usage') as never)
      .find({});
    expect(usage).toMatchObject({ bytes: 0 });
  });

  it('does not bring a deleted conversation back', async () => {
    const app = await createOpenAIApp({ onCall: silent });
    const conversation = await create(app);
    const { id } = await app.client.responses.create({ ...QUESTION, conversation, background: true });
    await untilCalled(app);
    await app.client.conversations.delete(conversation);
    await app.clock.advance(5000);
    app.calls[0]?.say({ type: 'text', text: 'Rain.' }, { type: 'finish', reason: 'stop' });
    app.calls[0]?.end();
    expect(await untilEnded(app, id)).toBe('completed');
    await app.settle();
    expect(await app.services.store.collection(CONVERSATIONS).count({})).toBe(0);
    expect(await app.services.store.collection(CONVERSATION_ENTRIES).count({})).toBe(0);
  });
});

it('events of a stream in a conversation are read again with the same numbers', async () => {
  const app = await createOpenAIApp({ onCall: reason });
  const conversation = await create(app);
  const seen = await readEvents(
    await app.send('POST', '/responses', { ...QUESTION, conversation, stream: true }),
  );
  const id = seen[0]?.response?.id;
  expect(await readEvents(await app.send('GET', `/responses/${id}?stream=true`))).toEqual(seen);
});
