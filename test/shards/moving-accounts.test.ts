import { API_KEYS, BUDGETS } from '@questline/core/internal';
import type { HoldRequest } from '@questline/core/ports';
import { migrate } from '@questline/sql';
import { describe, expect, it } from 'vitest';
import { SQLITE_MEMORY } from '../../packages/sql/test/engines.ts';
import {
  createMovingApp,
  MOVE_COLLECTIONS,
  type MovingApp,
  readAccount,
  readExport,
  type ShardName,
  shareMoves,
} from '../support/moves.ts';
import { addOrganization } from '../support/people.ts';

const HOUR_MS = 3_600_000;
const CREDIT = 1_000_000_000;

describe('the account of an owner that moves to another database', () => {
  const open = shareMoves();

  const toRequest = ({ account, clock }: MovingApp, key: string, more: Partial<HoldRequest> = {}) => ({
    ...{ account, amount: 500, key, expiresAt: clock.now() + 60_000, details: { operation: 'chat' } },
    ...more,
  });

  const hold = async (app: MovingApp, request: HoldRequest) => {
    const held = await app.services.ledger.hold(request);
    if (held.outcome !== 'held') throw new Error(held.outcome);
    return held.hold;
  };

  it.each([
    ['credit', CREDIT],
    ['the smallest credit', 1],
    ['no credit', 0],
    ['debt', -7],
  ])('has each entry once, in its order, after stays in two databases, with %s', async (_, posted) => {
    const app = await open();
    const { account, services } = app;
    const { ledger } = services;
    const ports = app.openPeer();
    const grant = (amount: number, key: string) => ledger.grant({ account, amount, key, reason: 'test' });
    await grant(posted - CREDIT, 'begin');
    const keys = ['start', 'begin'];
    for (const [at, to] of (['b', 'a', 'b', 'a', 'b'] as const).entries()) {
      // The second stay adds nothing, and the third one an entry.
      const changes = at === 1 ? [] : at === 2 ? [0] : [3, -3, 2, -2];
      for (const change of changes) {
        keys.push(`${at} ${change}`);
        await grant(change, `${at} ${change}`);
      }
      expect(await app.move(to)).toMatchObject({ outcome: 'moved' });
      expect((await ledger.balance(account)).posted).toBe(posted);
      expect((await app.single[to].ledger.balance(account)).posted).toBe(posted);
      const exported = await readExport(ports, 0, account);
      expect(exported.map(({ key }) => key)).toEqual(keys);
      for (const [place, { position }] of exported.entries()) {
        expect(await readExport(ports, position, account)).toEqual(exported.slice(place + 1));
      }
      const entries = await ledger.entries(account, { limit: 100 });
      expect(entries.map(({ key }) => key)).toEqual(keys.toReversed());
    }
  });

  it('has the reports of its free calls there, also of those that were archived', async () => {
    const app = await open();
    const ports = app.openPeer();
    const { ledger } = ports;
    const account = `user:${(await app.addUser('eve@example.com')).id}`;
    const owner = account.slice('user:'.length);
    await ledger.record({ account, key: 'free', details: { operation: 'audio' } });
    await ledger.record({ account, key: 'free too', details: { operation: 'audio' } });
    const before = await readAccount(ports, account);
    expect(before.sums).toMatchObject([{ requests: 2 }]);
    await app.move('a', { owner });
    expect(await readAccount(ports, account)).toEqual(before);
    await app.clock.advance(2 * HOUR_MS);
    expect(
      await ledger.archiveCharges?.({ before: app.clock.now(), limit: 100 }, async () => undefined),
    ).toBe(2);
    expect((await readAccount(ports, account)).sums).toEqual(before.sums);
    await ledger.record({ account, key: 'elsewhere', details: { operation: 'audio' } });
    await app.move('c', { owner });
    await ledger.record({ account, key: 'free', details: { operation: 'audio' } });
    await app.move('b', { owner });
    expect((await readAccount(ports, account)).sums).toMatchObject([{ requests: 3 }]);
  });

  it('has the first entry of a database in which it had only free calls before', async () => {
    const engines = await Promise.all(Array.from({ length: 4 }, () => SQLITE_MEMORY.open()));
    for (const { database } of engines) await migrate(database, { collections: MOVE_COLLECTIONS });
    const [home, a, b, c] = engines.map(({ database }) => database);
    if (!home || !a || !b || !c) throw new Error('four databases');
    const app = await createMovingApp({ databases: { home, a, b, c } });
    const { ledger } = app.openPeer();
    const owner = (await app.addUser('eve@example.com')).id;
    const account = `user:${owner}`;
    await ledger.record({ account, key: 'free', details: { operation: 'audio' } });
    const grant = (amount: number, key: string) => ledger.grant({ account, amount, key, reason: 'test' });
    expect(await app.move('a', { owner })).toMatchObject({ outcome: 'moved' });
    await grant(5, 'first');
    await grant(-5, 'second');
    expect(await app.move('b', { owner })).toMatchObject({ outcome: 'moved' });
    await grant(5, 'third');
    const keys = ['first', 'second', 'third'];
    const exported = await readExport(app.openPeer(), 0, account);
    expect(exported.map(({ key }) => key)).toEqual(keys);
    expect((await ledger.entries(account, { limit: 9 })).map(({ key }) => key)).toEqual(keys.toReversed());
    for (const engine of engines) await engine.close();
  });

  it('has archived calls in its reports if it had no other', async () => {
    const app = await open();
    const ports = app.openPeer();
    const { ledger } = ports;
    const owner = (await app.addUser('eve@example.com')).id;
    const account = `user:${owner}`;
    await ledger.record({ account, key: 'free', details: { operation: 'audio' } });
    await app.clock.advance(2 * HOUR_MS);
    await ledger.archiveCharges?.({ before: app.clock.now(), limit: 100 }, async () => undefined);
    const before = await readAccount(ports, account);
    expect(before.sums).toMatchObject([{ requests: 1 }]);
    await app.move('a', { owner });
    expect(await readAccount(ports, account)).toEqual(before);
  });

  it.each(['released', 'archived'])(
    'counts a late settlement of a %s hold against all of its caps, once',
    async (state) => {
      const app = await open();
      const { ledger } = app.services;
      const capId = `budget:${app.services.ids.next()}:total`;
      await app.services.store
        .collection(BUDGETS)
        .insert({ id: capId.split(':')[1], userId: app.user.id, subject: `user:${app.user.id}` } as never);
      const caps = [{ id: capId, unit: 'credits', amount: 500, limit: 1000 } as const];
      const late = await hold(app, toRequest(app, 'late', { caps }));
      await ledger.release(late);
      await app.clock.advance(2 * HOUR_MS);
      if (state === 'archived') {
        await ledger.archiveCharges?.({ before: app.clock.now(), limit: 100 }, async () => undefined);
      }
      await app.move('b');
      await app.move('c');
      expect(await ledger.settle(late, 300)).toEqual({ charged: 300, first: true });
      expect(await ledger.capUsage?.([capId])).toEqual([{ spent: 300, reserved: 0 }]);
      for (const to of ['a', 'b'] as const) {
        await app.move(to);
        expect((await ledger.balance(app.account)).posted).toBe(CREDIT - 300);
        expect(await ledger.settle(late, 300)).toEqual({ charged: 300, first: false });
        expect(await app.single[to].ledger.capUsage?.([capId])).toEqual([{ spent: 300, reserved: 0 }]);
      }
      expect(
        await ledger.hold(toRequest(app, 'next', { caps: [{ ...caps[0], amount: 701 } as never] })),
      ).toMatchObject({ outcome: 'cap_exceeded', spent: 300 });
    },
  );

  it('charges a late settlement once after its return, also when that is archived', async () => {
    const app = await open();
    const { ledger } = app.services;
    const late = await hold(app, toRequest(app, 'late'));
    await ledger.release(late);
    await app.move('b');
    await app.move('a');
    expect(await ledger.settle(late, 300)).toEqual({ charged: 300, first: true });
    await app.clock.advance(2 * HOUR_MS);
    const before = app.clock.now();
    expect(await ledger.archiveCharges?.({ before, limit: 100 }, async () => undefined)).toBe(1);
    expect(await ledger.settle(late, 300)).toEqual({ charged: 300, first: false });
    expect((await ledger.balance(app.account)).posted).toBe(CREDIT - 300);
  });

  it('has the usage of all databases in its reports', async () => {
    const app = await open();
    const { ledger } = app.services;
    await ledger.settle(await hold(app, toRequest(app, 'first')), 5, { input: 1, images: 2 });
    await app.move('b');
    await ledger.settle(await hold(app, toRequest(app, 'second')), 7, { input: 10, seconds: 3 });
    const { sums } = await readAccount(app.openPeer(), app.account);
    expect(sums).toEqual([
      { group: { operation: 'chat' }, requests: 2, amount: 12, usage: { input: 11, images: 2, seconds: 3 } },
    ]);
  });

  it('stays if accounts are in the home database', async () => {
    const app = await open();
    const cap = { id: `user:${app.user.id}:total`, limit: 1000 };
    await app.services.ledger.settle(await hold(app, toRequest(app, 'call', { cap })), 5);
    const { ledger } = app.single.a;
    const before = [await ledger.balance(app.account), await ledger.capUsed(cap.id)];
    expect(await app.move('b', { accounts: 'home' })).toMatchObject({ outcome: 'moved' });
    expect([await ledger.balance(app.account), await ledger.capUsed(cap.id)]).toEqual(before);
    expect(await app.single.b.ledger.capUsed(cap.id)).toBe(0);
  });

  it('moves with the counts of all of its caps, and of no others', async () => {
    const app = await open({ choose: () => 'a' });
    const { user, services } = app;
    const { ids, store } = services;
    const other = await app.addUser('eve@example.com');
    const organization = await addOrganization(app, { ownerId: other.id });
    await services.ledger.balance(`organization:${organization.id}`);
    const add = async (count: number, more: object) => {
      const added: string[] = [];
      for (let at = 0; at < count; at += 1) {
        const id = ids.next();
        added.push(id);
        const record = { id, prefix: id, hash: id, name: id, scopes: [], ...more };
        expect(await store.collection(API_KEYS).insert(record as never)).toBe(true);
      }
      return added.map((id) => `key:${id}:total`);
    };
    const addBudget = async (userId: string | null, subject: string) => {
      const id = ids.next();
      await store.collection(BUDGETS).insert({ id, userId, subject, signature: id } as never);
      return `budget:${id}:total`;
    };
    const ofOrganization = await add(201, { userId: user.id, organizationId: organization.id });
    const lastKey = ofOrganization.at(-1)?.slice(0, -':total'.length) ?? '';
    const own = await add(1001, { userId: user.id, organizationId: null });
    const lastOwn = own.at(-1)?.slice(0, -':total'.length) ?? '';
    const caps = {
      user: [
        ...own.slice(-2),
        ...(await add(1, { userId: user.id })),
        `user:${user.id}:total`,
        await addBudget(user.id, `user:${user.id}`),
        await addBudget(user.id, lastOwn),
      ],
      organization: [
        ...ofOrganization.slice(-1),
        ...(await add(1, { userId: other.id, organizationId: organization.id })),
        await addBudget(null, `organization:${organization.id}`),
        await addBudget(user.id, lastKey),
      ],
      other: [
        ...(await add(1, { userId: other.id })),
        `user:${other.id}:total`,
        `user:${user.id.slice(0, -1)}9:total`,
        await addBudget(other.id, `user:${other.id}`),
        await addBudget(null, 'everyone'),
      ],
    };
    const all = Object.values(caps).flat();
    for (const [at, id] of all.entries()) {
      const held = await hold(app, toRequest(app, id, { cap: { id, limit: 1000 } }));
      await services.ledger.settle(held, at + 1);
    }
    const read = async (name: ShardName, of: readonly string[] = all) =>
      Promise.all(of.map((id) => app.single[name].ledger.capUsed(id)));
    const counts = await read('a');
    expect(counts).toEqual(all.map((_, at) => at + 1));
    const isOf = (name: keyof typeof caps) => (id: string, at: number) =>
      caps[name].includes(id) ? counts[at] : 0;
    const isNotOf =
      (...names: readonly (keyof typeof caps)[]) =>
      (id: string, at: number) =>
        names.some((name) => caps[name].includes(id)) ? 0 : counts[at];
    expect(await app.move('b')).toMatchObject({ outcome: 'moved' });
    expect(await read('b')).toEqual(all.map(isOf('user')));
    expect(await read('a')).toEqual(all.map(isNotOf('user')));
    expect(await app.move('c', { owner: organization.id })).toMatchObject({ outcome: 'moved' });
    expect(await read('c')).toEqual(all.map(isOf('organization')));
    expect(await read('a')).toEqual(all.map(isNotOf('user', 'organization')));
  });
});
