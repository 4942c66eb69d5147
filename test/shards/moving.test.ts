import { MESSAGES, type MessageRecord, QUESTS, SESSIONS } from '@questline/core/internal';
import type { Hold, HoldRequest } from '@questline/core/ports';
import { createOpenAIApi } from '@questline/openai';
import type { ShardPorts } from '@questline/sql';
import { describe, expect, it } from 'vitest';
import { findOwned, type MovingApp, readAccount, readExport, shareMoves } from '../support/moves.ts';
import { MAKERS, makeSession } from '../support/owned-resources.ts';
import { addOrganization } from '../support/people.ts';
import { callAs } from '../support/sharing.ts';
import { serveWire } from '../support/vendor-wire.ts';
import { SHARERS } from './shared-records.ts';

describe('an owner that moves to another database', () => {
  const open = shareMoves();

  const work = async (app: MovingApp): Promise<void> => {
    for (let step = 0; step < 10; step += 1) {
      await app.clock.advance(5000);
      await app.settle();
    }
  };

  it('has every kind of record there, and nothing in the former one', async () => {
    const app = await open();
    for (const make of new Set(Object.values(MAKERS))) await make(app, app.user);
    expect((await app.chat({ message: 'Hi' })).status).toBe(200);
    const peer = app.openPeer();
    const [quest] = await peer.store.collection(QUESTS).find({ ownerId: app.user.id }, { limit: 1 });
    const stream = quest?.id ?? '';
    for (const after of [0, 1]) {
      await peer.eventLog.append(stream, { attempt: 1, after, events: [{ text: 'Hi' }], keepMs: 1e9 });
    }
    const events = await peer.eventLog.read(stream, 0);
    expect(events).toHaveLength(2);
    const [before, others] = [await findOwned(app, 'a'), await findOwned(app, 'b')];
    expect(before.size).toBeGreaterThan(20);
    expect([...before.keys()].some((key) => key.startsWith('jobs '))).toBe(true);
    expect(await app.move('b')).toMatchObject({ outcome: 'moved' });
    expect(await findOwned(app, 'a')).toEqual(new Map());
    expect(await findOwned(app, 'b')).toEqual(new Map([...others, ...before]));
    expect(await peer.eventLog.read(stream, 0)).toEqual(events);
    expect(app.incidents.filter(({ operation }) => operation !== 'worker')).toEqual([]);
  });

  it('can be an organization, which goes on to pay for its members', async () => {
    const app = await open({ started: true });
    const { id } = await addOrganization(app, { ownerId: app.user.id });
    const account = `organization:${id}`;
    await app.ledger.grant({ account, amount: 1e9, key: 'start', reason: 'start' });
    const { key } = await app.issue({ organizationId: id, scopes: ['ai:chat'] });
    const pay = async (): Promise<void> => {
      expect((await app.chat({ message: 'Hi' }, { credential: key })).status).toBe(200);
      await work(app);
    };
    await pay();
    const peer = app.openPeer();
    const before = await readAccount(peer, account);
    expect(before.balance.posted).toBe(1e9 - 110_000);
    expect(await app.move('c', { owner: id })).toMatchObject({ outcome: 'moved' });
    expect(await readAccount(peer, account)).toEqual(before);
    expect((await app.single.c.ledger.balance(account)).posted).toBe(1e9 - 110_000);
    await pay();
    const after = await readAccount(peer, account);
    expect([after.balance.posted, after.spent, after.charges.length]).toEqual([1e9 - 220_000, 220_000, 2]);
    expect(app.incidents).toEqual([]);
    await app.api.close();
  });

  it('keeps its credit, its history, its keys and its limits', async () => {
    const app = await open({ started: true });
    const { ledger, account, openPeer } = { ...app, ledger: app.services.ledger };
    const capped = await app.issue({ spendCap: { amount: 1e9, period: 'total' }, scopes: ['ai:chat'] });
    for (const credential of [app.key, capped.key]) {
      expect((await app.chat({ message: 'Hi' }, { credential })).status).toBe(200);
      await work(app);
    }
    const request = {
      ...{ account, amount: 500, key: 'call', expiresAt: app.clock.now() + 60_000 },
      details: { operation: 'chat' },
    };
    const held = await ledger.hold(request);
    if (held.outcome !== 'held') throw new Error('no credit');
    await ledger.settle(held.hold, 300);
    const late = await ledger.hold({ ...request, key: 'late' });
    if (late.outcome !== 'held') throw new Error('no credit');
    await ledger.release(late.hold);
    await ledger.record({ account, key: 'free', details: { operation: 'audio' } });
    const cap = { id: `key:${capped.record.id}:total`, limit: 110_010 };
    expect(await ledger.capUsed(cap.id)).toBe(110_000);
    const ports = openPeer();
    const before = await readAccount(ports, account);
    const exported = await readExport(ports, 0, account);
    const all = await readExport(ports, 0);
    const newest = (await ledger.entries(account, { limit: 1 }))[0]?.id ?? '';

    for (const to of ['b', 'c', 'a', 'b']) {
      expect(await app.move(to)).toMatchObject({ outcome: 'moved' });
      expect(await readAccount(ports, account), to).toEqual(before);
      expect(await ledger.capUsed(cap.id), to).toBe(110_000);
      const more = { ...request, cap, amount: 11, key: `above ${to}` };
      expect(await ledger.hold(more), to).toMatchObject({ outcome: 'spend_cap_exceeded', used: 110_000 });
      expect(await ledger.hold(request), to).toMatchObject({ outcome: 'held', hold: { id: held.hold.id } });
      expect(await ledger.settle(held.hold, 400), to).toEqual({ charged: 300, first: false });
      await ledger.record({ account, key: 'free', details: { operation: 'audio' } });
      expect(await ledger.grant({ account, amount: 7, key: 'start', reason: 'again' }), to).toBe(false);
      expect(await readAccount(ports, account), to).toEqual(before);
    }
    expect(await readExport(ports, 0, account)).toEqual(exported);
    expect(await readExport(ports, exported.at(-1)?.position ?? 0, account)).toEqual([]);
    const added = await readExport(ports, all.at(-1)?.position ?? 0);
    expect(added.reduce((sum, { amount }) => sum + amount, 0)).toBe(0);
    expect(added.length).toBe(8);

    expect(await ledger.settle(late.hold, 50)).toEqual({ charged: 50, first: true });
    expect(await ledger.settle(late.hold, 50)).toEqual({ charged: 50, first: false });
    await app.move('a');
    expect(await ledger.settle(late.hold, 50)).toEqual({ charged: 50, first: false });
    expect((await ledger.balance(account)).posted).toBe(before.balance.posted - 50);
    const next = await readExport(ports, exported.at(-1)?.position ?? 0, account);
    expect(next.map(({ amount, key }) => [amount, key])).toEqual([[-50, 'late']]);
    const entries = await ledger.entries(account, { limit: 100 });
    expect(entries.reduce((sum, { amount }) => sum + amount, 0)).toBe(before.balance.posted - 50);
    const paged = [];
    for (let page = await ledger.entries(account, { limit: 1 }); page.length > 0; ) {
      paged.push(...page);
      page = await ledger.entries(account, { limit: 1, before: page[0]?.id ?? '' });
    }
    expect(paged).toEqual(entries);
    expect(new Set(entries.map(({ id }) => id)).size).toBe(entries.length);
    expect(entries.map(({ id }) => id)).toContain(newest);

    expect((await app.chat({ message: 'Hi' }, { credential: capped.key })).status).toBe(200);
    await work(app);
    expect(await ledger.capUsed(cap.id)).toBe(220_000);
    expect(app.incidents).toEqual([]);
    await app.api.close();
  });

  it('leaves what others own where it is, and takes what others wrote in its sessions along', async () => {
    // The owner and the first other user are on one shard, a third user on another one.
    const app = await open({ choose: (place) => (place < 2 ? 'a' : 'b'), started: true });
    const [neighbor, guest] = [await app.addUser('eve@example.com'), await app.addUser('bob@example.com')];
    for (const { id } of [neighbor, guest]) {
      await app.ledger.grant({ account: `user:${id}`, amount: 1e9, key: 'start', reason: 'start' });
    }
    const sessionId = await SHARERS.session?.(app, neighbor);
    const foreign = await makeSession(app, neighbor);
    const before = new Map([...(await findOwned(app, 'a'))].filter(([key]) => key.startsWith('sessions ')));
    expect((await app.chat({ message: 'Hi', sessionId })).status).toBe(200);
    await work(app);
    const path = `/api/sessions/${sessionId}`;
    const seen = (await app.json('GET', path)).body;
    const read = () => app.services.store.collection(MESSAGES).find({ sessionId: sessionId ?? '' });
    const messages = await read();
    expect(messages).toHaveLength(2);
    expect(await app.move('b')).toMatchObject({ outcome: 'moved' });
    const left = await findOwned(app, 'a');
    for (const key of before.keys()) expect(left.has(key)).toBe(true);
    expect((await app.json('GET', path)).body).toEqual(seen);
    expect(await app.move('a', { owner: neighbor.id })).toEqual({ outcome: 'there' });
    expect(await app.move('c', { owner: neighbor.id })).toMatchObject({ outcome: 'moved' });
    expect([...(await findOwned(app, 'c')).keys()].filter((key) => key.startsWith('messages '))).toHaveLength(
      2,
    );
    expect((await app.json('GET', path)).body).toEqual(seen);
    expect((await callAs(app, neighbor, 'GET', `/api/sessions/${foreign}`)).status).toBe(200);
    expect((await app.chat({ message: 'Hi', sessionId })).status).toBe(200);
    await work(app);
    expect(await read()).toEqual([...messages, expect.anything(), expect.anything()]);
    expect(app.incidents).toEqual([]);
    await app.api.close();
  });

  it('is found by a process that remembers the former database and was idle during the move', async () => {
    const app = await open();
    const { account, services } = app;
    const sessionId = await makeSession(app, app.user);
    const idle = Array.from({ length: 7 }, () => app.openPeer());
    const details = { operation: 'chat' };
    const requests = idle.map((_, at) => ({
      ...{ account, amount: 10, key: `call ${at}`, expiresAt: app.clock.now() + 3_600_000, details },
    }));
    const holds: Hold[] = [];
    for (const [at, { store, ledger }] of idle.entries()) {
      await store.collection(SESSIONS).get(sessionId);
      await store.collection(MESSAGES).find({ sessionId });
      const held = await ledger.hold(requests[at] as HoldRequest);
      if (held.outcome !== 'held') throw new Error('no credit');
      holds.push(held.hold);
      await ledger.release(held.hold);
    }
    expect(await app.move('b')).toMatchObject({ outcome: 'moved' });
    const message = () =>
      ({ id: services.ids.next(), sessionId, ownerId: app.user.id, createdAt: 0 }) as MessageRecord;
    const [a, b, c, d, e, f, g] = idle as ShardPorts[];
    expect(await a?.store.collection(MESSAGES).insert(message())).toBe(true);
    expect(await b?.store.transaction((inner) => inner.collection(MESSAGES).insert(message()))).toBe(true);
    const record = message();
    const written = { do: 'insert', collection: MESSAGES as never, id: record.id, record } as const;
    expect(await c?.store.writeAll?.([written])).toBe(true);
    expect(await d?.store.collection(MESSAGES).find({ sessionId })).toHaveLength(3);
    expect(await e?.store.collection(SESSIONS).find({ id: sessionId })).toHaveLength(1);
    expect(await f?.ledger.settle(holds[5] as Hold, 4)).toEqual({ charged: 4, first: true });
    const settlement = g?.ledger.toSettlement?.(holds[6] as Hold, 3);
    const isSettled = settlement !== undefined && (await g?.store.writeAll?.([settlement])) === true;
    if (!isSettled) await g?.ledger.settle(holds[6] as Hold, 3);
    expect((await app.ledger.balance(account)).posted).toBe(1_000_000_000 - 7);
    expect((await app.single.a.ledger.balance(account)).posted).toBe(0);
    expect(await findOwned(app, 'a')).toEqual(new Map());
  });

  it('has its waiting turn answered in the new database, and can repeat it', async () => {
    const app = await open();
    const headers = { 'Idempotency-Key': 'turn-1' };
    const turn = await app.chat({ message: 'Hi' }, { headers });
    expect(turn.status).toBe(200);
    expect(await app.move('b')).toMatchObject({ outcome: 'moved', jobs: 1 });
    const repeated = await app.chat({ message: 'Hi' }, { headers });
    expect([repeated.status, repeated.body.id]).toEqual([200, turn.body.id]);
    await app.api.start();
    await work(app);
    expect(await app.poll(turn.body.id)).toMatchObject({ status: 'done' });
    expect((await app.ledger.balance(app.account)).posted).toBe(1_000_000_000 - 110_000);
    expect(app.incidents.filter(({ operation }) => operation !== 'worker')).toEqual([]);
    await app.api.close();
  });

  it('has its stored responses there, which belong to no session', async () => {
    const app = await open({ started: true });
    const api = `${await serveWire(createOpenAIApi(app.services), '/openai')}/v1`;
    const call = async (method: string, path: string, body?: object) => {
      const answer = await fetch(`${api}${path}`, {
        method,
        headers: { Authorization: `Bearer ${app.key}`, 'Content-Type': 'application/json' },
        ...(body !== undefined && { body: JSON.stringify(body) }),
      });
      return { status: answer.status, body: (await answer.json()) as { readonly id: string } };
    };
    const made = await call('POST', '/responses', { model: 'scripted', input: 'Hi' });
    expect(made).toMatchObject({ status: 200, body: { status: 'completed' } });
    const path = `/responses/${made.body.id}`;
    const before = await call('GET', path);
    await work(app);
    expect(await app.move('b')).toMatchObject({ outcome: 'moved' });
    expect(await call('GET', path)).toEqual(before);
    expect(await findOwned(app, 'a')).toEqual(new Map());
    expect((await findOwned(app, 'b')).has(`responses ${made.body.id.slice(5)}`)).toBe(true);
    expect(app.incidents).toEqual([]);
    await app.api.close();
  });

  it('does not move by itself when a database is added, nor to one that is not configured', async () => {
    const app = await open();
    await makeSession(app, app.user);
    const before = await findOwned(app, 'a');
    const peer = app.openPeer();
    expect((await peer.ledger.balance(app.account)).posted).toBe(1_000_000_000);
    expect(await findOwned(app, 'a')).toEqual(before);
    expect((await findOwned(app, 'c')).size).toBe(0);
    await expect(app.move('d')).rejects.toThrow('the shard d is not configured');
    expect(await app.move('a')).toEqual({ outcome: 'there' });
    expect(await app.move('b', { owner: app.services.ids.next() })).toEqual({ outcome: 'unknown' });
  });
});
