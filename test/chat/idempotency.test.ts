import { QUESTS } from '@questline/core/internal';
import { describe, expect, it } from 'vitest';
import { answerParts, type ChatApp, createChatApp, silent } from '../support/chat.ts';

const key = (value: string) => ({ headers: { 'Idempotency-Key': value } });

describe('header Idempotency-Key on chat', () => {
  it('makes 50 parallel duplicates one turn, one model call and one charge', async () => {
    const app = await createChatApp();
    const answers = await Promise.all(
      Array.from({ length: 50 }, () => app.chat({ message: 'Hi' }, key('one'))),
    );
    await app.settle();
    const [first] = answers;
    expect(first?.status).toBe(200);
    for (const { status, body } of answers) expect([status, body]).toEqual([200, first?.body]);
    expect(app.calls).toHaveLength(1);
    expect(await app.ledger.charges({ account: app.account }, 100)).toHaveLength(1);
    expect(await app.poll(first?.body.id ?? '')).toMatchObject({ status: 'done', reply: 'Hello.' });
  });

  it('returns the same reply to waiting duplicates', async () => {
    const app = await createChatApp({ onCall: silent });
    const waiting = Array.from({ length: 50 }, () => app.chat({ message: 'Hi', wait: true }, key('one')));
    await app.settle();
    app.calls[0]?.say(...answerParts('Once.'));
    app.calls[0]?.end();
    const answers = await Promise.all(waiting);
    expect(new Set(answers.map(({ status, body }) => `${status} ${body.id} ${body.response}`)).size).toBe(1);
    expect(app.calls).toHaveLength(1);
  });

  it('returns the original acknowledgement to a duplicate after the turn ended', async () => {
    const app = await createChatApp();
    const first = await app.chat({ message: 'Hi' }, key('one'));
    await app.settle();
    await app.clock.advance(3_600_000);
    const again = await app.chat({ message: 'Hi' }, key('one'));
    expect([again.status, again.body]).toEqual([200, first.body]);
    await app.settle();
    expect(app.calls).toHaveLength(1);
  });

  it('ignores the formatting of the body and rejects a different body', async () => {
    const app = await createChatApp();
    const first = await app.chat('{"message":"Hi","model":"scripted"}', key('one'));
    const same = await app.chat('{ "model": "scripted", "unknown": 1, "message": "H\\u0069" }', key('one'));
    expect(same.body).toEqual(first.body);
    for (const body of [{ message: 'Ho', model: 'scripted' }, { message: 'Hi' }]) {
      const other = await app.chat(body, key('one'));
      expect([other.status, other.body.errorCode]).toEqual([422, 'idempotency_key_reused']);
    }
    expect((await app.chat({ message: 'Hi' }, key('two'))).body.id).not.toBe(first.body.id);
  });

  it('is 1 to 255 printable ASCII characters', async () => {
    const app = await createChatApp();
    for (const value of ['', 'x'.repeat(256), 'ü', 'tab\there']) {
      const { status, body } = await app.chat({ message: 'Hi' }, key(value));
      expect([value, status, body.errorCode]).toEqual([value, 422, 'invalid_idempotency_key']);
    }
    for (const value of ['x', '~ !', 'x'.repeat(255)]) {
      expect((await app.chat({ message: 'Hi' }, key(value))).status).toBe(200);
    }
  });

  it('is per principal and expires after 24 hours', async () => {
    const app = await createChatApp();
    const other = await app.issue({ scopes: ['ai:chat'] });
    const id = async (credential: string) =>
      (await app.chat({ message: 'Hi' }, { ...key('one'), credential })).body.id;
    const first = await id(app.key);
    expect(await id(other.key)).not.toBe(first);
    await app.clock.advance(24 * 3_600_000 - 1);
    expect(await id(app.key)).toBe(first);
    await app.clock.advance(1);
    const later = await id(app.key);
    expect(later).not.toBe(first);
    expect(await id(app.key)).toBe(later);
  });

  it('can be used again after a rejected request', async () => {
    const app = await createChatApp();
    expect((await app.chat({ message: 'Hi', model: 'unknown' }, key('one'))).status).toBe(400);
    expect((await app.chat({ message: 'Hi' }, key('one'))).status).toBe(200);
  });

  it('enqueues again a message whose process died right after accepting it', async () => {
    const app = await createChatApp();
    const { queue } = app.services;
    const dies = queue.enqueue.bind(queue);
    queue.enqueue = () => Promise.reject(new Error('killed'));
    expect((await app.chat({ message: 'Hi' }, key('one'))).status).toBe(500);
    queue.enqueue = dies;
    const { body } = await app.chat({ message: 'Hi' }, key('one'));
    await app.settle();
    expect(await app.poll(body.id)).toMatchObject({ status: 'done', reply: 'Hello.' });
    expect(app.calls).toHaveLength(1);
  });
});

describe('chat without an Idempotency-Key', () => {
  it('makes the same body another turn', async () => {
    const app: ChatApp = await createChatApp();
    const ids = [];
    for (let time = 0; time < 3; time += 1) ids.push((await app.chat({ message: 'Hi' })).body.id);
    expect(new Set(ids).size).toBe(3);
  });

  it.each([
    ['rejects', () => Promise.reject(new Error('away'))],
    [
      'throws',
      () => {
        throw new Error('away');
      },
    ],
  ])('neither runs nor charges a turn when the queue %s, and reports it as failed', async (_, enqueue) => {
    const app = await createChatApp();
    const { queue, store } = app.services;
    const works = queue.enqueue.bind(queue);
    queue.enqueue = enqueue;
    expect((await app.chat({ message: 'Hi' })).status).toBe(500);
    queue.enqueue = works;
    for (let step = 0; step < 8; step += 1) {
      await app.clock.advance(15_000);
      await app.settle();
    }
    expect(app.calls).toHaveLength(0);
    expect(await app.ledger.charges({ account: app.account }, 1)).toEqual([]);
    expect(await store.collection(QUESTS).find({})).toMatchObject([{ status: 'stopped' }]);
  });

  it('finds by periodic recovery a message whose process died right after accepting it', async () => {
    const app = await createChatApp();
    const { queue } = app.services;
    const dies = queue.enqueue.bind(queue);
    queue.enqueue = async () => ({ id: 'lost', added: true });
    await app.chat({ message: 'Hi' });
    queue.enqueue = dies;
    for (let step = 0; step < 6; step += 1) {
      await app.clock.advance(15_000);
      await app.settle();
    }
    expect(app.calls).toHaveLength(1);
  });
});
