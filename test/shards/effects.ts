import { setImmediate as turn } from 'node:timers/promises';
import { COLLECTIONS, type UserRecord } from '@questline/core';
import { ORGANIZATIONS } from '@questline/core/internal';
import type { TestApp } from '../support/test-app.ts';

/** What requests have done, after all jobs. */
export interface Effect {
  readonly statuses: readonly number[];
  readonly incidents: readonly string[];
  /** The number of records by collection. */
  readonly records: Readonly<Record<string, number>>;
  readonly balances: readonly unknown[];
}

/** Longer than the delays of jobs that follow a request. */
const DELAY_MS = 5000;
const QUIET_TURNS = 5;
const MAX_TURNS = 200;

async function runJobs(app: TestApp): Promise<void> {
  await app.api.start();
  for (const delay of [0, DELAY_MS]) {
    await app.clock.advance(delay);
    for (let quiet = 0, turns = 0; quiet < QUIET_TURNS && turns < MAX_TURNS; turns += 1) {
      await turn();
      const { ready, leased } = await app.services.queue.counts();
      quiet = ready + leased === 0 ? quiet + 1 : 0;
    }
  }
}

/** Lets the jobs of these users run, and closes the app. */
export async function readEffect(
  app: TestApp,
  users: readonly UserRecord[],
  statuses: readonly number[],
): Promise<Effect> {
  await runJobs(app);
  const { store, ledger } = app.services;
  const records: Record<string, number> = {};
  for (const definition of COLLECTIONS) {
    records[definition.name] = await store.collection(definition as typeof ORGANIZATIONS).count({});
  }
  const organizations = await store.collection(ORGANIZATIONS).find({});
  const accounts = [
    ...users.map(({ id }) => `user:${id}`),
    ...organizations.map(({ id }) => `organization:${id}`),
  ];
  const balances = await Promise.all(accounts.map((account) => ledger.balance(account)));
  await app.api.close();
  return { statuses, incidents: app.incidents.map(({ error }) => String(error)), records, balances };
}
