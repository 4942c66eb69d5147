import { setImmediate as turn } from 'node:timers/promises';
import { createUser, issueApiKey, type Operation } from '@questline/core';
import { MESSAGES, QUESTS, RETENTION_KINDS, SESSIONS } from '@questline/core/internal';
import { createSqlPorts, type SqlDatabase } from '@questline/sql';
import type { SqlStatement } from '../../packages/sql/src/statement.ts';
import { askedIn, toTestAppOptions } from '../support/cases.ts';
import { createTestApp, type TestApp } from '../support/test-app.ts';
import { createWire } from '../support/wire.ts';
import type { WireCase } from '../wire/cases/case.ts';
import { CASES } from '../wire/cases/index.ts';

/** A statement of an operation, with the values of one request. */
export interface RecordedStatement extends SqlStatement {
  /** The operation that was called. */
  readonly operation: string;
}

/** Time in which all periodic tasks run. */
const PERIODIC_MS = 3_600_000;
const QUIET_TURNS = 5;
/** So that the sweep has statements for all kinds. The worker looks seldom: its statements are always the same. */
const RETENTION = {
  worker: { pollMs: 60_000 },
  retention: Object.fromEntries(RETENTION_KINDS.map((kind) => [kind, 7])),
  keepNewest: Object.fromEntries(RETENTION_KINDS.map((kind) => [kind, 1])),
};

/** Sends the successful requests of all operations to apps on this database, lets their jobs and periodic tasks run. @returns the distinct statements. */
export async function recordStatements(database: SqlDatabase): Promise<readonly RecordedStatement[]> {
  const seen = new Map<string, RecordedStatement>();
  const filled = new Set<string>();
  let operation = '';
  let running = 0;
  const see = (statement: SqlStatement): void => {
    if (!seen.has(statement.sql)) seen.set(statement.sql, { ...statement, operation });
    for (const [, table] of statement.sql.matchAll(/insert into ((?:"[\w]+"\.)?"[\w]+")/g))
      filled.add(`${table}`);
  };
  const observed = observe(database, see, (change) => {
    running += change;
  });
  const isIdle = async ({ services }: TestApp): Promise<boolean> => {
    if (running > 0) return false;
    const { ready, leased } = await services.queue.counts();
    return ready + leased === 0;
  };
  const { api } = await createTestApp();
  for (const one of listCases(api.routes.map((route) => route.operation))) {
    operation = one.operation.id;
    const options = await toTestAppOptions(one.operation, one.row);
    const wire = await createWire({
      ...options,
      ...(one.isLast && { settings: { ...options.settings, ...RETENTION } }),
      ports: (given) => createSqlPorts(observed, given),
    });
    await wire.send(await askedIn(one.operation, one.row, wire.app));
    await wire.app.api.start();
    for (let quiet = 0, turns = 0; quiet < QUIET_TURNS && turns < 100; turns += 1) {
      await turn();
      quiet = (await isIdle(wire.app)) ? quiet + 1 : 0;
    }
    if (one.isLast) {
      operation = 'periodic tasks';
      await addOldSession(wire.app);
      for (let passed = 0; passed < PERIODIC_MS; passed += 60_000) await wire.app.clock.advance(60_000);
      while (running > 0) await turn();
      operation = 'calls of one account at once';
      await callAtOnce(wire.app);
      operation = 'archive of charges';
      await archiveCharges(wire.app);
      operation = 'callers who come again';
      await comeAgain(wire.app);
    }
    await wire.app.api.close();
    for (const table of filled) await database.run({ sql: `delete from ${table}`, parameters: [] });
    filled.clear();
  }
  return [...seen.values()];
}

/** Holds and settlements that share statements. */
async function callAtOnce({ services, account }: TestApp): Promise<void> {
  const { ledger, clock } = services;
  const details = { operation: 'createCompletion' };
  const outcomes = await Promise.all(
    ['a', 'b', 'c'].map((key) =>
      ledger.hold({ account, amount: 1, key: `at once ${key}`, expiresAt: clock.now() + 1000, details }),
    ),
  );
  await Promise.all(
    outcomes.map(async (one) => {
      if (one.outcome !== 'held') throw new Error(one.outcome);
      await ledger.settle(one.hold, 1, { input: 1 });
    }),
  );
}

/** Archives a settled, a recorded and a released charge, counts, and settles the released one late. */
async function archiveCharges({ services, account }: TestApp): Promise<void> {
  const { ledger, clock } = services;
  const details = { operation: 'sendChatMessage' };
  const hold = async (key: string) => {
    const outcome = await ledger.hold({ account, amount: 1, key, expiresAt: clock.now() + 1000, details });
    if (outcome.outcome !== 'held') throw new Error(outcome.outcome);
    return outcome.hold;
  };
  await ledger.settle(await hold('settled'), 1, { input: 1 });
  await ledger.record({ account, key: 'recorded', details });
  const released = await hold('released');
  await ledger.release(released);
  const before = clock.now() + 1;
  await ledger.countArchivable?.(before);
  await ledger.archiveCharges?.({ before, limit: 500 }, async () => {});
  await ledger.settle(released, 1);
}

/** Enough callers that their credentials are read together. */
async function comeAgain({ services, clock }: TestApp): Promise<void> {
  const keys: string[] = [];
  const users: string[] = [];
  for (let index = 0; index < 10; index += 1) {
    const user = await createUser(services, { email: `again-${index}@example.com`, username: 'again' });
    if (user === undefined) throw new Error('the address is taken');
    const input = { userId: user.id, name: 'again', scopes: ['me:read'], organizationId: user.id } as const;
    keys.push((await issueApiKey(services, input)).key);
    users.push(user.id);
  }
  for (let time = 0; time < 3; time += 1) {
    for (const key of keys) await services.authenticator.identify(key);
    for (const user of users) await services.ownModels?.getCatalogue(user);
    await clock.advance(1000);
  }
}

/** A session in use, with an old turn and a newer one. */
async function addOldSession({ services, user }: TestApp): Promise<void> {
  const { store, clock, ids } = services;
  const now = clock.now();
  const sessionId = ids.next();
  const owned = { sessionId, ownerId: user.id };
  await store.collection(SESSIONS).insert({
    id: sessionId,
    ownerId: user.id,
    name: 'A session',
    firstCreated: now,
    lastUpdated: now,
  } as never);
  for (const age of [9, 2]) {
    const createdAt = now - age * 86_400_000;
    const questId = ids.next();
    const message = { role: 'user', content: 'text', bytes: 100, questId, createdAt } as const;
    await store.collection(MESSAGES).insert({ id: ids.next(), ...owned, ...message });
    await store.collection(QUESTS).insert({
      ...{
        id: questId,
        kind: 'chat',
        ...owned,
        status: 'done',
        type: 'message',
        createdAt,
        updatedAt: createdAt,
      },
      request: { payer: { account: `user:${user.id}` }, requestId: '' },
    } as never);
  }
}

interface OneCase {
  readonly operation: Operation;
  readonly row: WireCase;
  readonly isLast: boolean;
}

function listCases(operations: readonly Operation[]): readonly OneCase[] {
  const found = operations.flatMap((operation) =>
    (CASES[operation.id] ?? []).filter(({ status }) => status < 400).map((row) => ({ operation, row })),
  );
  return found.map((one, at) => ({ ...one, isLast: at === found.length - 1 }));
}

/** A handle that reports its statements. */
export function observe(
  database: SqlDatabase,
  see: (statement: SqlStatement) => void,
  count: (change: number) => void,
): SqlDatabase {
  const counted = async <T>(work: Promise<T>): Promise<T> => {
    count(1);
    try {
      return await work;
    } finally {
      count(-1);
    }
  };
  const run: SqlDatabase['run'] = (statement, options) => {
    see(statement);
    return counted(database.run(statement, options));
  };
  const transaction: SqlDatabase['transaction'] = (work, options) =>
    counted(
      database.transaction(
        (connection) =>
          work({
            run(statement) {
              see(statement);
              return connection.run(statement);
            },
          }),
        options,
      ),
    );
  if (database.dialect === 'postgres') return { ...database, run, transaction };
  return {
    ...database,
    run,
    transaction,
    immediate: (work, options) =>
      counted(
        database.immediate(
          (runNow) =>
            work((statement) => {
              see(statement);
              return runNow(statement);
            }),
          options,
        ),
      ),
  };
}
