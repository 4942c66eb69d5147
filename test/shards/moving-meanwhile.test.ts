import { MESSAGES, type MessageRecord, SESSIONS } from '@questline/core/internal';
import { isStorageUnavailable } from '@questline/core/ports';
import { describe, expect, it } from 'vitest';
import { findOwned, type MovingApp, shareMoves } from '../support/moves.ts';
import { makeSession } from '../support/owned-resources.ts';
import { callAs } from '../support/sharing.ts';
import { slowStatements } from '../support/slow-statements.ts';

describe('while an owner moves to another database', () => {
  const open = shareMoves();

  it('refuses it with 503 and Retry-After, and serves others', async () => {
    const app = await open({ choose: () => 'a' });
    const other = await app.addUser('eve@example.com');
    const sessionId = await makeSession(app, app.user);
    const phases: string[] = [];
    const statuses = new Map<string, Set<number>>();
    const peer = app.openPeer();
    const outcome = await app.move('b', {
      onPhase: (phase) => phases.push(phase),
      async each() {
        const answer = await callAs(app, app.user, 'GET', `/api/sessions/${sessionId}`);
        const phase = phases.at(-1) ?? '';
        statuses.set(phase, (statuses.get(phase) ?? new Set()).add(answer.status));
        if (answer.status !== 200) {
          const refused = await app.ask('GET', `/api/sessions/${sessionId}`, {
            credential: await app.token(),
          });
          expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, '5']);
        }
        expect((await callAs(app, other, 'GET', '/api/v1/sessions')).status).toBe(200);
        expect((await callAs(app, other, 'POST', '/api/v1/sessions', { name: 'Mine' })).status).toBe(200);
        const found = await peer.store.collection(SESSIONS).find({ id: sessionId });
        expect(found).toHaveLength(1);
      },
    });
    expect(outcome).toMatchObject({ outcome: 'moved' });
    expect(phases).toEqual(['draining', 'closed', 'copying', 'deleting']);
    expect([...(statuses.get('draining') ?? [])]).toEqual([200]);
    expect(statuses.get('closed')).toContain(503);
    for (const found of statuses.values()) expect([200, 503]).toEqual(expect.arrayContaining([...found]));
    expect([...(statuses.get('deleting') ?? [])]).toEqual([503]);
    expect((await callAs(app, app.user, 'GET', `/api/sessions/${sessionId}`)).status).toBe(200);
  });

  it('loses no write that a process confirms at any time', async () => {
    const app = await open();
    const sessionId = await makeSession(app, app.user);
    const peer = app.openPeer();
    const [sessions, messages] = [peer.store.collection(SESSIONS), peer.store.collection(MESSAGES)];
    const session = await sessions.get(sessionId);
    if (session === undefined) throw new Error('no session');
    const confirmed: string[] = [];
    let refused = 0;
    const write = async (change: () => Promise<string>): Promise<void> => {
      try {
        confirmed.push(await change());
      } catch (error) {
        if (!isStorageUnavailable(error)) throw error;
        refused += 1;
      }
    };
    const { ids } = app.services;
    const message = () =>
      ({ id: ids.next(), sessionId, ownerId: app.user.id, createdAt: 0 }) as MessageRecord;
    const each = async () => {
      await write(async () => {
        const record = { ...session, id: ids.next() };
        expect(await sessions.insert(record)).toBe(true);
        return record.id;
      });
      await write(async () => {
        const record = message();
        expect(await messages.insert(record)).toBe(true);
        return record.id;
      });
      await write(async () => {
        const record = message();
        await peer.store.transaction((inner) => inner.collection(MESSAGES).insert(record));
        return record.id;
      });
      await write(async () => {
        const record = message();
        const written = { do: 'insert', collection: MESSAGES as never, id: record.id, record } as const;
        expect(await peer.store.writeAll?.([written])).toBe(true);
        return record.id;
      });
    };
    for (const to of ['b', 'a', 'c']) {
      expect(await app.move(to, { each })).toMatchObject({ outcome: 'moved' });
    }
    expect(refused).toBeGreaterThan(10);
    expect(confirmed.length).toBeGreaterThan(10);
    const stored = await findOwned(app, 'c');
    const found = new Set([...stored.keys()].map((key) => key.split(' ')[1]));
    expect(confirmed.filter((id) => !found.has(id))).toEqual([]);
    for (const name of ['a', 'b'] as const) expect(await findOwned(app, name)).toEqual(new Map());
  });

  it('waits for a hold, and moves nothing if it does not end', async () => {
    const app = await open({ started: true });
    const ledger = app.services.ledger;
    const details = { operation: 'chat' };
    const request = { account: app.account, amount: 500, key: 'call', details };
    const held = await ledger.hold({ ...request, expiresAt: app.clock.now() + 3_600_000 });
    if (held.outcome !== 'held') throw new Error('no credit');
    expect(await app.move('b', { drainMs: 5000 })).toEqual({ outcome: 'busy' });
    expect((await app.json('GET', '/api/v1/me')).status).toBe(200);
    expect((await findOwned(app, 'b')).size).toBe(0);

    let time = 0;
    const phases: string[] = [];
    const outcome = await app.move('b', {
      onPhase: (phase) => phases.push(phase),
      async each() {
        time += 1;
        if (time === 60) await ledger.settle(held.hold, 200);
      },
    });
    expect([outcome.outcome, time > 60]).toEqual(['moved', true]);
    expect(phases).toEqual(['draining', 'closed', 'copying', 'deleting']);
    expect(await ledger.balance(app.account)).toEqual({
      posted: 999_999_800,
      held: 0,
      available: 999_999_800,
    });
    await app.api.close();
  });

  it('refuses it after an interruption, until the same move goes on', async () => {
    const app = await open();
    const sessionId = await makeSession(app, app.user);
    const before = await findOwned(app, 'a');
    for (const phase of ['closed', 'copying', 'deleting']) {
      const stop = app.move('b', {
        onPhase(entered) {
          if (entered === phase) throw new Error('the process ends');
        },
      });
      await expect(stop).rejects.toThrow('the process ends');
      expect((await callAs(app, app.user, 'GET', `/api/sessions/${sessionId}`)).status).toBe(503);
      await expect(app.move('c')).rejects.toThrow('moves to the shard b already');
    }
    expect(await app.move('b')).toEqual({ outcome: 'moved', records: 0, jobs: 0 });
    expect((await callAs(app, app.user, 'GET', `/api/sessions/${sessionId}`)).status).toBe(200);
    expect([...(await findOwned(app, 'b')).keys()]).toEqual(expect.arrayContaining([...before.keys()]));
    expect(await findOwned(app, 'a')).toEqual(new Map());
  });

  it('makes one call of its databases at a time, and none after its end', async () => {
    const app = await open();
    await makeSession(app, app.user);
    expect((await app.chat({ message: 'Hi' })).status).toBe(200);
    const capId = `user:${app.user.id}:total`;
    const details = { operation: 'chat' };
    const request = {
      account: app.account,
      amount: 5,
      key: 'call',
      expiresAt: app.clock.now() + 1000,
      details,
    };
    const held = await app.services.ledger.hold({ ...request, cap: { id: capId, limit: 10 } });
    if (held.outcome !== 'held') throw new Error('no credit');
    await app.services.ledger.settle(held.hold, 5);
    const before = await findOwned(app, 'a');
    const calls = { running: 0, most: 0 };
    const { home, ...shards } = Object.fromEntries(
      Object.entries(app.databases).map(([name, database]) => [name, slowStatements(database, calls)]),
    ) as MovingApp['databases'];
    const records = [...before.keys()].filter((key) => !/^(?:jobs|rateWindows|eventBatches) /.test(key));
    expect(await app.move('b', { home, shards })).toEqual({
      ...{ outcome: 'moved', records: records.length, jobs: 1 },
    });
    expect(calls).toEqual({ running: 0, most: 1 });
    expect(await findOwned(app, 'a')).toEqual(new Map());
    expect(await findOwned(app, 'b')).toEqual(before);
    expect(await app.single.b.ledger.capUsed(capId)).toBe(5);
    expect(await app.single.a.ledger.capUsed(capId)).toBe(0);
  });

  it('renews the holds of others, also in one step with a hold of it', async () => {
    const app = await open({ choose: () => 'a' });
    const other = await app.addUser('eve@example.com');
    const { ledger } = app.services;
    await ledger.grant({ account: `user:${other.id}`, amount: 1000, key: 'start', reason: 'start' });
    const stop = app.move('b', {
      onPhase(phase) {
        if (phase === 'closed') throw new Error('the process ends');
      },
    });
    await expect(stop).rejects.toThrow('the process ends');
    const expiresAt = app.clock.now() + 25_000;
    const requests = [app.user.id, other.id].map((id) => {
      const details = { operation: 'chat' };
      return { account: `user:${id}`, amount: 5, key: `call of ${id}`, expiresAt, details };
    });
    // Both began before the process saw the phase.
    const outcomes = await Promise.all(requests.map((request) => app.single.a.ledger.hold(request)));
    const holds = outcomes.flatMap((one) => (one.outcome === 'held' ? [one.hold] : []));
    expect(holds).toHaveLength(2);
    const calls = { running: 0, most: 0 };
    const slow = app.openPeer((database) => slowStatements(database, calls));
    await expect(slow.ledger.renewAll?.(holds, expiresAt + 5000)).rejects.toSatisfy(isStorageUnavailable);
    expect(calls.running).toBe(0);
    const found = await Promise.all(requests.map((request) => app.single.a.ledger.hold(request)));
    expect(found).toMatchObject([{ hold: { expiresAt } }, { hold: { expiresAt: expiresAt + 5000 } }]);
  });

  it('lets the later of two equal moves end it', async () => {
    const app = await open();
    await makeSession(app, app.user);
    const before = await findOwned(app, 'a');
    const [first, second] = await Promise.allSettled([app.move('b'), app.move('b')]);
    const outcomes = [first, second].map((one) =>
      one?.status === 'fulfilled' ? one.value.outcome : String(one?.reason),
    );
    expect(outcomes).toContain('moved');
    expect(outcomes.some((one) => one.includes('was taken over by another process'))).toBe(true);
    expect(await findOwned(app, 'b')).toEqual(before);
    expect(await findOwned(app, 'a')).toEqual(new Map());
  });
});
