import { isStorageUnavailable, type Observer } from '@questline/core/ports';
import { expect } from 'vitest';
import type { ChatAppOptions } from '../support/chat.ts';
import { createLostCalls } from '../support/lost-calls.ts';
import { createGuardedApp, SCOPES, toHandler, WORK_DOES_NOT_END } from './app.ts';
import type {
  GuardedApp,
  GuardedWire,
  Outcome,
  Refusal,
  ServedOperation,
  WireOperation,
  WireRequest,
} from './wire.ts';

/** One cell of the table: a guard, on one operation of a wire. */
export interface Cell {
  readonly wire: GuardedWire;
  readonly operation: WireOperation;
  readonly served: ServedOperation;
}

/** A column of the table. */
export interface Guard {
  readonly title: string;
  /** Whether an operation has to have it. */
  applies(cell: Cell): boolean;
  check(cell: Cell): Promise<void>;
}

type Send = (
  options?: Partial<Pick<WireRequest, 'credential' | 'headers' | 'fileId' | 'text'>>,
) => Promise<Outcome>;

async function open(
  { wire, operation }: Cell,
  options: ChatAppOptions = {},
): Promise<{ readonly app: GuardedApp; readonly send: Send }> {
  const app = await createGuardedApp(options);
  const subject = (await operation.prepare?.(app)) ?? '';
  const handle = toHandler(wire.createApi(app), wire.mountPath);
  // Agent runs and images are worked by the api.
  await app.api.start();
  return {
    app,
    send: (more = {}) =>
      operation.send({
        app,
        handle,
        subject,
        credential: app.key,
        headers: {},
        fileId: undefined,
        text: 'x',
        ...more,
      }),
  };
}

function expectRefusal({ status, name, text }: Outcome, refusal: Refusal): void {
  expect({ status, name, text }).toMatchObject({
    status: refusal.status ?? expect.toSatisfy((value) => (value as number) >= 400, 'a status of an error'),
    ...(refusal.name !== undefined && { name: refusal.name }),
    ...(refusal.text !== undefined && { text: expect.stringMatching(refusal.text) }),
  });
}

function expectAnswer({ status, text }: Outcome): void {
  expect([status, text.slice(0, 500)]).toEqual([
    expect.toSatisfy((value) => (value as number) < 300),
    text.slice(0, 500),
  ]);
}

function expectNoRetry({ wire }: Cell, { headers }: Outcome): void {
  if (wire.forbidsRetries) expect(headers.get('x-should-retry')).toBe('false');
}

const always = (): boolean => true;
const isPaid = ({ served }: Cell): boolean => served.isPaid;
const usesOwnModels = (cell: Cell): boolean => isPaid(cell) && cell.operation.usesServerModel !== true;

/** A user without credit. @returns a key with all scopes. */
async function addUser(app: GuardedApp, credits: number): Promise<{ userId: string; key: string }> {
  const user = await app.addUser('other@example.com');
  const account = `user:${user.id}`;
  if (credits > 0) await app.ledger.grant({ account, amount: credits, key: user.id, reason: 'test' });
  const { key } = await app.issue({ userId: user.id, scopes: SCOPES, requestsPerMinute: 10_000 });
  return { userId: user.id, key };
}

/** What a client reads of storage that lost a call: of a request, and of work that had begun. */
const LOST = /temporarily unavailable|could not be stored|went wrong on our side|was interrupted/;

/** @returns what is wrong with the outcome of an operation whose call number `place` is lost; undefined: it has fewer calls. */
async function loseCall(cell: Cell, place: number): Promise<string | undefined> {
  const lost = createLostCalls();
  const { app, send } = await open(cell, { store: lost.lose, ledger: lost.lose });
  await app.settle();
  Object.assign(lost, { place, calls: 0 });
  const outcome = await send().catch((error: unknown) => {
    // Calls of this test are lost, too, and a lost lease ends after a minute.
    if (isStorageUnavailable(error) || String(error).includes(WORK_DOES_NOT_END)) return undefined;
    throw error;
  });
  const isHit = lost.calls > place;
  lost.place = -1;
  await app.api.close();
  if (!isHit) return undefined;
  if (outcome === undefined || outcome.status < 300 || LOST.test(outcome.text)) return '';
  return `call ${place}: ${outcome.status} ${outcome.text.slice(0, 300)}`;
}

export const GUARDS: readonly Guard[] = [
  {
    title: 'an answer when storage loses a call',
    // For the own wire see ../wire/lost-calls.test.ts.
    applies: ({ wire }) => wire.package !== 'core',
    async check(cell) {
      const wrong: string[] = [];
      for (let place = 0; ; place += 1) {
        const found = await loseCall(cell, place);
        if (found === undefined) break;
        if (found !== '') wrong.push(found);
      }
      expect(wrong).toEqual([]);
    },
  },
  {
    title: 'the credential',
    applies: always,
    async check(cell) {
      const { app, send } = await open(cell);
      const { asked } = app;
      const before = asked.length;
      expectRefusal(await send({ credential: null }), cell.wire.refusals.credential);
      const { key } = await app.issue({ scopes: SCOPES });
      expectRefusal(await send({ headers: { 'x-api-key': key } }), cell.wire.refusals.twoKeys);
      expect(asked).toHaveLength(before);
    },
  },
  {
    title: 'the scopes of a key',
    applies: ({ served }) => served.needsScope,
    async check(cell) {
      const { app, send } = await open(cell);
      const before = app.asked.length;
      const { key } = await app.issue({ scopes: ['me:read'] });
      expectRefusal(await send({ credential: key }), cell.wire.refusals.scope);
      expect(app.asked).toHaveLength(before);
    },
  },
  {
    title: 'the windows of a key',
    applies: always,
    async check(cell) {
      const { app, send } = await open(cell);
      const { key } = await app.issue({ scopes: SCOPES, requestsPerMinute: 1 });
      const { headers } = await send({ credential: key });
      const { remainingHeader, refusals } = cell.wire;
      if (remainingHeader !== undefined) expect(headers.get(remainingHeader)).toBe('0');
      const before = app.asked.length;
      expectRefusal(await send({ credential: key }), refusals.window);
      expect(app.asked).toHaveLength(before);
    },
  },
  {
    title: 'the credit of the payer, and the cap of the key',
    applies: isPaid,
    async check(cell) {
      const { app, send } = await open(cell);
      const before = app.asked.length;
      const poor = await addUser(app, 0);
      const capped = await app.issue({ scopes: SCOPES, spendCap: { amount: 1, period: 'day' } });
      for (const [credential, refusal] of [
        [poor.key, cell.wire.refusals.credit],
        [capped.key, cell.wire.refusals.cap],
      ] as const) {
        const refused = await send({ credential });
        expectRefusal(refused, refusal);
        expectNoRetry(cell, refused);
      }
      expect(app.asked).toHaveLength(before);
      const charged = await app.ledger.charges({ account: app.account }, 10);
      expectAnswer(await send());
      expect(app.asked.length).toBeGreaterThan(before);
      const charges = await app.ledger.charges({ account: app.account }, 10);
      expect(charges).toHaveLength(charged.length + 1);
      expect((await app.ledger.balance(app.account)).held).toBe(0);
      expect((await app.ledger.balance(`user:${poor.userId}`)).held).toBe(0);
    },
  },
  {
    title: 'budgets',
    applies: isPaid,
    async check(cell) {
      const { app, send } = await open(cell);
      const { userId, key } = await addUser(app, 1e9);
      const user = { ...app.user, id: userId };
      const body = {
        name: 'Small cap',
        scope: 'user',
        window: 'total',
        limit: { unit: 'requests', amount: 1 },
        action: 'refuse',
      };
      const made = await app.ask('POST', '/api/budgets', { credential: await app.token(user), body });
      expect(made.status).toBe(201);
      expectAnswer(await send({ credential: key }));
      const before = app.asked.length;
      const refused = await send({ credential: key, text: 'y' });
      expectRefusal(refused, cell.wire.refusals.budget);
      expect(refused.text).toContain('Small cap');
      expectNoRetry(cell, refused);
      expect(app.asked).toHaveLength(before);
    },
  },
  {
    title: 'the daily number of paid calls without credits',
    applies: isPaid,
    async check(cell) {
      const { app, send } = await open(cell, {
        settings: { paidCallsPerDay: 1, admin: { enforceCredits: false } },
      });
      const { key } = await addUser(app, 0);
      expectAnswer(await send({ credential: key }));
      const before = app.asked.length;
      const refused = await send({ credential: key, text: 'y' });
      expectRefusal(refused, cell.wire.refusals.daily);
      // The next day is too far away for a retry.
      expectNoRetry(cell, refused);
      expect(app.asked).toHaveLength(before);
    },
  },
  {
    title: 'the moderation of files',
    applies: ({ operation }) => operation.file !== undefined,
    async check(cell) {
      const seen: string[] = [];
      const { app, send } = await open(cell, {
        moderator: {
          async check({ name }) {
            seen.push(name);
            return { isClean: false, reason: 'a test' };
          },
        },
      });
      if (cell.operation.file === 'product') {
        expectAnswer(await send());
        await app.settle();
        expect(seen).toHaveLength(1);
        return;
      }
      const made = { name: 'a.png', mimeType: 'image/png', content: Buffer.from('x'), isModerated: true };
      const { file } = await app.services.library.save(app.user.id, made);
      const { operation, wire } = cell;
      const before = app.asked.length;
      const handle = toHandler(wire.createApi(app), wire.mountPath);
      const request = { app, handle, credential: app.key, headers: {}, text: 'x' };
      const id = file?.id ?? '';
      const refused =
        operation.file === 'subject'
          ? await operation.send({ ...request, subject: id, fileId: undefined })
          : await send({ fileId: id });
      expectRefusal(refused, wire.refusals.file);
      expect(app.asked).toHaveLength(before);
    },
  },
  {
    title: 'the own provider key of the user',
    applies: usesOwnModels,
    async check(cell) {
      const { app, send } = await open(cell);
      const credential = await app.token();
      const key = 'sk-of-the-user-0001';
      const body = { name: 'Mine', service: 'openai', key };
      expect((await app.ask('POST', '/api/api-keys/create', { credential, body })).status).toBe(201);
      const before = app.asked.length;
      expectAnswer(await send());
      const asked = app.asked.slice(before);
      expect(asked.length).toBeGreaterThan(0);
      expect(asked.filter(({ apiKey }) => apiKey !== key)).toEqual([]);
    },
  },
  {
    title: 'hidden models, and the models of a key',
    applies: usesOwnModels,
    async check(cell) {
      const { app, send } = await open(cell);
      const listed = await app.issue({ scopes: SCOPES, models: ['another'] });
      const before = app.asked.length;
      expectRefusal(await send({ credential: listed.key }), cell.wire.refusals.listedModel);
      expect(app.asked).toHaveLength(before);
      const hidden = await open(cell, { settings: { hideModel: () => true } });
      expectRefusal(await hidden.send(), cell.wire.refusals.hiddenModel);
      expect(hidden.app.asked).toEqual([]);
    },
  },
  {
    title: 'no hidden model in its list',
    applies: ({ operation }) => operation.listsModels === true,
    async check(cell) {
      const { send } = await open(cell, { settings: { hideModel: ({ id }) => id === 'scripted' } });
      const answer = await send();
      expectAnswer(answer);
      expect(answer.text).toContain('painter');
      expect(answer.text).not.toContain('scripted');
    },
  },
  {
    title: 'operations that the host switches off',
    applies: always,
    async check(cell) {
      const { app, send } = await open(cell);
      expectAnswer(await send());
      const before = app.asked.length;
      const without = [cell.served.counterpart];
      const off = await createGuardedApp({ settings: { operations: { without } } });
      const handle = toHandler(cell.wire.createApi(off), cell.wire.mountPath);
      const refused = await cell.operation.send({
        app: off,
        handle,
        subject: 'f'.repeat(24),
        credential: off.key,
        headers: {},
        fileId: undefined,
        text: 'x',
      });
      expectRefusal(refused, cell.wire.refusals.switchedOff);
      expect(app.asked).toHaveLength(before);
      expect(off.asked).toEqual([]);
    },
  },
  {
    title: 'idempotency keys',
    applies: ({ operation }) => operation.repeat === 'replayed',
    async check(cell) {
      const { app, send } = await open(cell);
      const before = app.asked.length;
      const charged = (await app.ledger.charges({ account: app.account }, 10)).length;
      const headers = { 'Idempotency-Key': 'one' };
      const first = await send({ headers });
      expectAnswer(first);
      const asked = app.asked.length;
      expect(asked).toBeGreaterThan(before);
      expectAnswer(await send({ headers }));
      expectRefusal(await send({ headers, text: 'y' }), cell.wire.refusals.reusedKey);
      expect(app.asked).toHaveLength(asked);
      const charges = await app.ledger.charges({ account: app.account }, 10);
      expect(charges).toHaveLength(charged + 1);
    },
  },
  {
    title: 'the graceful shutdown',
    applies: isPaid,
    async check(cell) {
      const { app, send } = await open(cell);
      const before = app.asked.length;
      await app.api.drain(0);
      expectRefusal(await send(), cell.wire.refusals.shutdown);
      expect(app.asked).toHaveLength(before);
    },
  },
  {
    title: 'the observer of the host',
    applies: always,
    async check(cell) {
      const seen: string[] = [];
      const observer: Observer = {
        request({ operation }, work) {
          seen.push(operation.id);
          return work();
        },
      };
      const { send } = await open(cell, { settings: { observers: [observer] } });
      const { id, counterpart } = cell.served;
      const before = seen.length;
      await send();
      expect(
        seen
          .slice(before)
          .some(
            (one) =>
              one === id ||
              one === counterpart ||
              ['readFileText', 'listServedSkills', 'readServedSkill'].includes(one),
          ),
      ).toBe(true);
    },
  },
];
