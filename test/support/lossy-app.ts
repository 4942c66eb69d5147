import {
  COLLECTIONS,
  createApi,
  createServices,
  createUser,
  issueApiKey,
  toFetchHandler,
} from '@questline/core';
import { createSqlPorts, migrate, type SqlDatabase } from '@questline/sql';
import { createFakeClock, createFakeIds } from '@questline/testing';
import { createFault, loseStatements, waitForCalls } from './lost-statements.ts';
import { createScriptedProvider, type ModelCall } from './model.ts';
import { NOW } from './test-app.ts';

const START = 1_000_000_000_000;

/** An application with one user on a database that loses statements. */
export async function openLossyApp(database: SqlDatabase, onCall: (call: ModelCall) => void) {
  await migrate(database, { collections: COLLECTIONS });
  const clock = createFakeClock(NOW);
  const ids = createFakeIds();
  const fault = createFault();
  // `settle` sees no claim that waits for its time.
  const options = { clock, ids, claimEveryMs: 0 };
  const { vectors: _, ...ports } = createSqlPorts(loseStatements(database, fault), options);
  const services = createServices(
    { ...ports, models: [createScriptedProvider(onCall)], clock, ids },
    {
      jwtSecret: 'a'.repeat(64),
      admin: { DefaultAPIModel: 'scripted' },
      worker: { pollMs: 5000 },
      onError: () => undefined,
    },
  );
  const user = await createUser(services, { email: 'ada@example.com', username: 'ada' });
  if (user === undefined) throw new Error('no user');
  const account = `user:${user.id}`;
  await services.ledger.grant({ account, amount: START, key: 'start', reason: 'start' });
  const { key } = await issueApiKey(services, {
    ...{ userId: user.id, name: 'test', scopes: ['ai:chat'] },
    ...{ requestsPerMinute: 100_000, requestsPerDay: 100_000 },
  });
  const api = createApi(services, { worker: false });
  await api.start();
  const handle = toFetchHandler(api);
  const headers = { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json' };
  const settle = () => waitForCalls(fault);
  return {
    ...{ clock, services, account, api, fault, settle },
    async post(path: string, body: object = {}): Promise<Response | undefined> {
      const request = { method: 'POST', headers, body: JSON.stringify(body) };
      return handle(new Request(`http://questline.test${path}`, request));
    },
    /** No statement is lost any more, and time passes: more than a lease and the interval of the recovery task. */
    async recover() {
      Object.assign(fault, { place: -1, isLasting: false });
      for (let step = 0; step < 10; step += 1) {
        await clock.advance(15_000);
        await settle();
      }
    },
  };
}
