import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { COLLECTIONS, USERS } from '@questline/core';
import { hashSecret } from '@questline/core/internal';
import { createIds, createSystemClock } from '@questline/core/memory';
import type { Store } from '@questline/core/ports';
import { createSqlPorts, migrate } from '@questline/sql';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { REGISTRATION_INVITES } from '../../../packages/core/src/features/sign-in/invite-records.ts';
import { FIRST_ADMIN } from '../../../packages/core/src/features/sign-in/registration.ts';
import { type OpenEngine, POSTGRES, POSTGRES_URL, SQLITE_FILE } from '../../../packages/sql/test/engines.ts';
import { forkScript } from '../../support/children/fork.ts';
import type { Answer, Call, Registration } from './protocol.ts';

const ROUNDS = 50;
const ENGINES = POSTGRES_URL === undefined ? [SQLITE_FILE] : [SQLITE_FILE, POSTGRES];

describe.each(ENGINES)('sign-in of two processes on one database, $name', ({ open }) => {
  let engine: OpenEngine;
  let store: Store;
  let processes: ChildProcess[];
  let strangers = 0;

  beforeAll(async () => {
    engine = await open();
    await migrate(engine.database, { collections: COLLECTIONS });
    const clock = createSystemClock();
    store = createSqlPorts(engine.database, { clock, ids: createIds({ clock }) }).store;
    processes = await Promise.all([start(), start()]);
  }, 60_000);
  afterAll(async () => {
    for (const child of processes) {
      child.send({ kind: 'end' });
      if (child.exitCode === null) await once(child, 'exit');
    }
    await engine.close();
  }, 60_000);

  async function start(): Promise<ChildProcess> {
    const child = forkScript(join(import.meta.dirname, 'sign-in.child.ts'));
    child.send({ kind: 'open', address: engine.address });
    await once(child, 'message');
    return child;
  }

  /**
   * Sends the calls in parallel, alternately to both processes. Returns the answers in the order of the
   * calls.
   */
  async function inBoth(calls: readonly Call[]): Promise<Answer[]> {
    const answers = await Promise.all(
      processes.map(async (child, index) => {
        child.send({ kind: 'calls', calls: calls.filter((_, at) => at % 2 === index) });
        return (await once(child, 'message'))[0] as Answer[];
      }),
    );
    return calls.map((_, at) => answers[at % 2]?.[at >> 1] as Answer);
  }

  /** Codes for `count` users, each with its own client address. */
  async function codes(count: number, registration: Registration = 'closed') {
    const people = Array.from({ length: count }, () => {
      strangers += 1;
      return { email: `p${strangers}@example.com`, from: `10.0.${strangers >> 8}.${strangers & 255}` };
    });
    const sent = await inBoth(
      people.map(({ email, from }) => ({ registration, path: '/api/otc/send', body: { email }, from })),
    );
    return people.map(({ email, from }, at) => {
      const { code = '', body } = sent[at] ?? { body: {} };
      const { pendingToken = '' } = body;
      return { registration, path: '/api/otc/verify', from, body: { email, code, pendingToken } } as const;
    });
  }

  async function empty(): Promise<void> {
    for (const definition of [USERS, FIRST_ADMIN, REGISTRATION_INVITES]) {
      const collection = store.collection(definition as typeof FIRST_ADMIN);
      await Promise.all((await collection.find({})).map(({ id }) => collection.take(id)));
    }
  }

  const accounts = () => store.collection(USERS).find({});
  const statuses = (answers: readonly Answer[]) => answers.map(({ status }) => status);

  it(`makes one administrator of 50 parallel first sign-ups in each of ${ROUNDS} rounds`, {
    timeout: 600_000,
  }, async () => {
    for (let round = 0; round < ROUNDS; round += 1) {
      await empty();
      const registration = round % 2 === 0 ? 'open' : 'closed';
      const calls = await codes(50, registration);
      const answers = await inBoth(
        calls.map((call) => ({ ...call, body: { ...call.body, username: 'someone' } })),
      );
      const made = registration === 'open' ? 50 : 1;
      expect(statuses(answers).sort()).toEqual([...Array(made).fill(200), ...Array(50 - made).fill(403)]);
      const users = await accounts();
      expect(users).toHaveLength(made);
      const [first, ...more] = users.filter(({ isAdmin }) => isAdmin);
      expect(more).toEqual([]);
      const reported = answers.filter(({ body }) => body.user?.isAdmin === true);
      expect(reported.map(({ body }) => body.user?._id)).toEqual([first?.id]);
      expect(await store.collection(FIRST_ADMIN).find({})).toMatchObject([{ userId: first?.id }]);
    }
  });

  it('makes one account for 20 parallel uses of a single-use invite in each of 10 rounds', {
    timeout: 300_000,
  }, async () => {
    await empty();
    const [first] = await codes(1);
    if (first === undefined) throw new Error('no user was returned');
    await inBoth([{ ...first, body: { ...first.body, username: 'admin' } }]);
    for (let round = 0; round < 10; round += 1) {
      const code = `invite-${round}`;
      await store.collection(REGISTRATION_INVITES).insert({
        id: round.toString(16).padStart(24, '0'),
        // Every second invite in the format of an earlier version.
        ...(round % 2 === 0 ? { codeHash: hashSecret(code) } : { code }),
        usesLeft: 1,
        startingCredits: 0,
        createdBy: 'test',
        createdAt: round,
      });
      const before = (await accounts()).length;
      const calls = await codes(20);
      const answers = await inBoth(
        calls.map((call) => ({ ...call, body: { ...call.body, username: 'someone', inviteCode: code } })),
      );
      expect(statuses(answers).sort()).toEqual([200, ...Array(19).fill(403)]);
      expect((await accounts()).length).toBe(before + 1);
    }
  });

  it('signs in once for 50 parallel uses of the right code', { timeout: 120_000 }, async () => {
    await empty();
    const [right] = await codes(1, 'open');
    if (right === undefined) throw new Error('no user was returned');
    const call = { ...right, body: { ...right.body, username: 'someone' } };
    const answers = await inBoth(
      Array.from({ length: 50 }, (_, at) => ({ ...call, from: `10.200.0.${at}` })),
    );
    expect(statuses(answers).sort()).toEqual([200, ...Array(49).fill(422)]);
    expect(await accounts()).toHaveLength(1);
  });

  it('checks one of 200 parallel wrong attempts per token, five in total', {
    timeout: 120_000,
  }, async () => {
    const [right] = await codes(1);
    if (right === undefined) throw new Error('no user was returned');
    let { pendingToken } = right.body;
    const looked: number[] = [];
    for (let round = 0; round < 6; round += 1) {
      const body = { ...right.body, code: 'wrong', pendingToken };
      const answers = await inBoth(
        Array.from({ length: 200 }, (_, at) => ({ ...right, body, from: `10.1${round}.0.${at}` })),
      );
      const counted = answers.filter((answer) => answer.body.error?.details !== undefined);
      looked.push(counted.length);
      pendingToken = counted[0]?.body.pendingToken ?? pendingToken;
    }
    expect(looked).toEqual([1, 1, 1, 1, 1, 0]);
    const late = { ...right.body, pendingToken };
    expect(statuses(await inBoth([{ ...right, body: late }]))).toEqual([422]);
  });

  it('checks ten of 200 parallel attempts from one client address and sends five of 50 mails', {
    timeout: 120_000,
  }, async () => {
    const [right] = await codes(1);
    if (right === undefined) throw new Error('no user was returned');
    const wrong = { ...right, from: '10.250.0.1', body: { ...right.body, code: 'wrong' } };
    const answers = await inBoth(Array.from({ length: 200 }, () => wrong));
    expect(statuses(answers).filter((status) => status === 422)).toHaveLength(10);
    expect(statuses(answers).filter((status) => status === 429)).toHaveLength(190);

    const asked = await inBoth(
      Array.from({ length: 50 }, (_, at) => ({
        registration: 'closed',
        path: '/api/otc/send',
        from: '10.250.0.2',
        body: { email: `mailed-${at}@example.com` },
      })),
    );
    expect(asked.filter(({ status, code }) => status === 200 && code !== undefined)).toHaveLength(5);
    expect(asked.filter(({ status, code }) => status === 429 && code === undefined)).toHaveLength(45);
  });
});
