import type { Scope } from '@questline/core';
import { type Mountable, toFetchHandler } from '@questline/core';
import type { Observer } from '@questline/core/ports';
import { expect, it } from 'vitest';
import { type ChatApp, type ChatAppOptions, createChatApp } from './chat.ts';

/** One request of a wire. The path is below the base URL. */
export type WireOperation = readonly [method: string, path: string, body?: unknown];

/** The name of an error on the wire, and its status. */
type Refusal = readonly [status: number, name: string | null];

/** A wire that a vendor defines, for the table of guards. */
export interface GuardedWire {
  createApi(services: ChatApp['services']): Mountable;
  readonly mountPath: string;
  /** Every operation of the wire. */
  readonly operations: readonly WireOperation[];
  readonly isPaid: (operation: WireOperation) => boolean;
  readonly scopes: readonly Scope[];
  readonly models?: () => NonNullable<ChatAppOptions['models']>;
  readonly onCall?: NonNullable<ChatAppOptions['onCall']>;
  /** The header with the requests that are left. */
  readonly remainingHeader: string;
  /** Reads the name of an error. */
  readonly readName: (error: Readonly<Record<string, unknown>>) => unknown;
  readonly refusals: Readonly<
    Record<'credential' | 'scope' | 'rate' | 'credit' | 'budget' | 'model' | 'shutdown', Refusal>
  >;
}

/** Adds the tests of the guards that every operation of every wire has. */
export function testGuards(wire: GuardedWire): void {
  const { operations, refusals, scopes } = wire;
  const paid = operations.filter(wire.isPaid);

  async function createGuarded(options: ChatAppOptions = {}) {
    const app = await createChatApp({
      started: false,
      ...(wire.models && { models: wire.models() }),
      ...(wire.onCall && { onCall: wire.onCall }),
      ...options,
      key: { scopes, ...options.key },
    });
    const handle = toFetchHandler(wire.createApi(app.services), { mountPath: wire.mountPath });
    return {
      app,
      async send([method, path, body]: WireOperation, key: string | null = app.key) {
        const isForm = body instanceof FormData;
        const request = new Request(`http://questline.test${wire.mountPath}/v1${path}`, {
          method,
          headers: {
            ...(key !== null && { Authorization: `Bearer ${key}` }),
            ...(body !== undefined && !isForm && { 'Content-Type': 'application/json' }),
          },
          ...(body !== undefined && { body: isForm ? body : JSON.stringify(body) }),
        });
        const response = await handle(request);
        if (response === undefined) throw new Error(`${path} was not answered`);
        const text = await response.text();
        const { status, headers } = response;
        const name = status < 400 ? '' : wire.readName(JSON.parse(text).error);
        return { outcome: [status, name], status, headers, text };
      },
    };
  }

  it('refuse requests without a credential, or without the scope', async () => {
    const { app, send } = await createGuarded();
    const { key } = await app.issue({ scopes: ['me:read'] });
    for (const operation of operations) {
      expect([operation, (await send(operation, null)).outcome]).toEqual([operation, refusals.credential]);
      if (operation[1].startsWith('/models')) continue;
      expect([operation, (await send(operation, key)).outcome]).toEqual([operation, refusals.scope]);
    }
  });

  it('count every call against the limits of the key', async () => {
    const { app, send } = await createGuarded();
    for (const operation of operations) {
      const { key } = await app.issue({ scopes, requestsPerMinute: 1 });
      expect((await send(operation, key)).headers.get(wire.remainingHeader)).toBe('0');
      expect([operation, (await send(operation, key)).outcome]).toEqual([operation, refusals.rate]);
    }
  });

  it('refuse paid calls without credit, above the cap of a key and while the service shuts down', async () => {
    const { app, send } = await createGuarded();
    const poor = await app.addUser('poor@example.com');
    const { key } = await app.issue({ userId: poor.id, scopes });
    const capped = await app.issue({ scopes, spendCap: { amount: 1, period: 'day' } });
    for (const operation of paid) {
      for (const refused of [await send(operation, key), await send(operation, capped.key)]) {
        expect([operation, refused.outcome]).toEqual([operation, refusals.credit]);
        expect(refused.headers.get('x-should-retry')).toBe('false');
      }
      expect([operation, (await send(operation)).status]).toEqual([operation, 200]);
    }
    expect((await app.ledger.balance(app.account)).held).toBe(0);
    await app.api.drain(0);
    for (const operation of paid) {
      expect([operation, (await send(operation)).outcome]).toEqual([operation, refusals.shutdown]);
    }
  });

  it('count paid calls against budgets, and name the budget in the refusal', async () => {
    const { app, send } = await createGuarded();
    for (const [index, operation] of paid.entries()) {
      const user = await app.addUser(`user${index}@example.com`);
      await app.ledger.grant({ account: `user:${user.id}`, amount: 1e9, key: user.id, reason: 'test' });
      const { key } = await app.issue({ userId: user.id, scopes });
      const limit = { unit: 'requests', amount: 1 };
      const body = { name: `cap ${index}`, scope: 'user', window: 'total', limit, action: 'refuse' };
      const credential = await app.token(user);
      expect((await app.ask('POST', '/api/budgets', { credential, body })).status).toBe(201);
      expect([operation, (await send(operation, key)).status]).toEqual([operation, 200]);
      const refused = await send(operation, key);
      expect([operation, refused.outcome]).toEqual([operation, refusals.budget]);
      expect(refused.text).toContain(`cap ${index}`);
      expect(refused.headers.get('x-should-retry')).toBe('false');
    }
  });

  it('refuse hidden models as unknown ones, free of charge', async () => {
    const { app, send } = await createGuarded({ settings: { hideModel: () => true } });
    for (const operation of paid) {
      expect([operation, (await send(operation)).outcome]).toEqual([operation, refusals.model]);
    }
    expect(app.calls).toHaveLength(0);
    expect((await send(['GET', '/models'])).text).not.toContain('scripted');
  });

  it('count paid calls per day while credits are not enforced', async () => {
    const { app, send } = await createGuarded({
      settings: { paidCallsPerDay: 1, admin: { enforceCredits: false } },
    });
    for (const [index, operation] of paid.entries()) {
      const user = await app.addUser(`user${index}@example.com`);
      const { key } = await app.issue({ userId: user.id, scopes });
      expect([operation, (await send(operation, key)).status]).toEqual([operation, 200]);
      const refused = await send(operation, key);
      expect([operation, refused.outcome]).toEqual([operation, refusals.rate]);
      // The next day is too far away for a retry.
      expect(refused.headers.get('x-should-retry')).toBe('false');
    }
  });

  it('report every call to the observer', async () => {
    const seen: string[] = [];
    const observer: Observer = {
      request({ operation }, work) {
        seen.push(operation.id);
        return work();
      },
    };
    const { send } = await createGuarded({ settings: { observers: [observer] } });
    for (const operation of operations) await send(operation);
    expect(seen).toHaveLength(operations.length);
  });
}
