import { QUESTS } from '@questline/core';
import { describe, expect, it } from 'vitest';
import { answerParts, type ChatWorld, createChatWorld, silent } from '../support/chat.ts';

const key = (value: string) => ({ headers: { 'Idempotency-Key': value } });

describe('Idempotency-Key', () => {
  it('makes 50 parallel duplicates one turn, one call of the model and one charge', async () => {
    const world = await createChatWorld();
    const answers = await Promise.all(
      Array.from({ length: 50 }, () => world.chat({ message: 'Hi' }, key('one'))),
    );
    await world.settle();
    const [first] = answers;
    expect(first?.status).toBe(200);
    for (const { status, body } of answers) expect([status, body]).toEqual([200, first?.body]);
    expect(world.calls).toHaveLength(1);
    expect(await world.ledger.charges({ account: world.account }, 100)).toHaveLength(1);
    expect(await world.poll(first?.body.id)).toMatchObject({ status: 'done', reply: 'Hello.' });
  });

  it('gives duplicates that wait the same reply', async () => {
    const world = await createChatWorld({ onCall: silent });
    const waiting = Array.from({ length: 50 }, () => world.chat({ message: 'Hi', wait: true }, key('one')));
    await world.settle();
    world.calls[0]?.say(...answerParts('Once.'));
    world.calls[0]?.end();
    const answers = await Promise.all(waiting);
    expect(new Set(answers.map(({ status, body }) => `${status} ${body.id} ${body.response}`)).size).toBe(1);
    expect(world.calls).toHaveLength(1);
  });

  it('answers a duplicate after the end with the original acknowledgement', async () => {
    const world = await createChatWorld();
    const first = await world.chat({ message: 'Hi' }, key('one'));
    await world.settle();
    await world.clock.advance(3_600_000);
    const again = await world.chat({ message: 'Hi' }, key('one'));
    expect([again.status, again.body]).toEqual([200, first.body]);
    await world.settle();
    expect(world.calls).toHaveLength(1);
  });

  it('knows the same body however it was written, and refuses another one', async () => {
    const world = await createChatWorld();
    const first = await world.chat('{"message":"Hi","model":"scripted"}', key('one'));
    const same = await world.chat('{ "model": "scripted", "unknown": 1, "message": "H\\u0069" }', key('one'));
    expect(same.body).toEqual(first.body);
    for (const body of [{ message: 'Ho', model: 'scripted' }, { message: 'Hi' }]) {
      const other = await world.chat(body, key('one'));
      expect([other.status, other.body.errorCode]).toEqual([422, 'idempotency_key_reused']);
    }
    expect((await world.chat({ message: 'Hi' }, key('two'))).body.id).not.toBe(first.body.id);
  });

  it('is 1 to 255 printable ASCII characters', async () => {
    const world = await createChatWorld();
    for (const value of ['', 'x'.repeat(256), 'ü', 'tab\there']) {
      const { status, body } = await world.chat({ message: 'Hi' }, key(value));
      expect([value, status, body.errorCode]).toEqual([value, 422, 'invalid_idempotency_key']);
    }
    for (const value of ['x', '~ !', 'x'.repeat(255)]) {
      expect((await world.chat({ message: 'Hi' }, key(value))).status).toBe(200);
    }
  });

  it('is for one principal, and ends after 24 hours', async () => {
    const world = await createChatWorld();
    const other = await world.issue({ scopes: ['ai:chat'] });
    const id = async (credential: string) =>
      (await world.chat({ message: 'Hi' }, { ...key('one'), credential })).body.id;
    const first = await id(world.key);
    expect(await id(other.key)).not.toBe(first);
    await world.clock.advance(24 * 3_600_000 - 1);
    expect(await id(world.key)).toBe(first);
    await world.clock.advance(1);
    const later = await id(world.key);
    expect(later).not.toBe(first);
    expect(await id(world.key)).toBe(later);
  });

  it('of a refused request is free again', async () => {
    const world = await createChatWorld();
    expect((await world.chat({ message: 'Hi', model: 'nobody' }, key('one'))).status).toBe(400);
    expect((await world.chat({ message: 'Hi' }, key('one'))).status).toBe(200);
  });

  it('queues again what was accepted by a process that died at once', async () => {
    const world = await createChatWorld();
    const { queue } = world.services;
    const dies = queue.enqueue.bind(queue);
    queue.enqueue = () => Promise.reject(new Error('killed'));
    expect((await world.chat({ message: 'Hi' }, key('one'))).status).toBe(500);
    queue.enqueue = dies;
    const { body } = await world.chat({ message: 'Hi' }, key('one'));
    await world.settle();
    expect(await world.poll(body.id)).toMatchObject({ status: 'done', reply: 'Hello.' });
    expect(world.calls).toHaveLength(1);
  });
});

describe('without a key', () => {
  it('the same body is another turn', async () => {
    const world: ChatWorld = await createChatWorld();
    const ids = [];
    for (let time = 0; time < 3; time += 1) ids.push((await world.chat({ message: 'Hi' })).body.id);
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
  ])(
    'what a queue that %s cannot take is not done, nor paid for: it was told to have failed',
    async (_, enqueue) => {
      const world = await createChatWorld();
      const { queue, store } = world.services;
      const works = queue.enqueue.bind(queue);
      queue.enqueue = enqueue;
      expect((await world.chat({ message: 'Hi' })).status).toBe(500);
      queue.enqueue = works;
      for (let step = 0; step < 8; step += 1) {
        await world.clock.advance(15_000);
        await world.settle();
      }
      expect(world.calls).toHaveLength(0);
      expect(await world.ledger.charges({ account: world.account }, 1)).toEqual([]);
      expect(await store.collection(QUESTS).find({})).toMatchObject([{ status: 'stopped' }]);
    },
  );

  it('what was accepted by a process that died at once is found by the sweep', async () => {
    const world = await createChatWorld();
    const { queue } = world.services;
    const dies = queue.enqueue.bind(queue);
    queue.enqueue = async () => ({ id: 'lost', added: true });
    await world.chat({ message: 'Hi' });
    queue.enqueue = dies;
    for (let step = 0; step < 6; step += 1) {
      await world.clock.advance(15_000);
      await world.settle();
    }
    expect(world.calls).toHaveLength(1);
  });
});
