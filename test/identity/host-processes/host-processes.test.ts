import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { COLLECTIONS, fromCredits, USERS } from '@questline/core';
import { EXTERNAL_IDS } from '@questline/core/internal';
import { createIds, createSystemClock } from '@questline/core/memory';
import { createSqlPorts, migrate } from '@questline/sql';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type OpenEngine, POSTGRES, POSTGRES_URL, SQLITE_FILE } from '../../../packages/sql/test/engines.ts';
import { forkScript } from '../../support/children/fork.ts';
import type { Answer } from './host.child.ts';

const PROCESSES = 4;
const REQUESTS = 50;
const ROUNDS = 5;
const ENGINES = POSTGRES_URL === undefined ? [SQLITE_FILE] : [SQLITE_FILE, POSTGRES];

describe.each(ENGINES)(
  'first requests of host users in four processes on one database, $name',
  ({ open }) => {
    let engine: OpenEngine;
    let ports: ReturnType<typeof createSqlPorts>;
    let processes: ChildProcess[];

    beforeAll(async () => {
      engine = await open();
      await migrate(engine.database, { collections: COLLECTIONS });
      const clock = createSystemClock();
      ports = createSqlPorts(engine.database, { clock, ids: createIds({ clock }) });
      processes = await Promise.all(Array.from({ length: PROCESSES }, start));
    }, 60_000);
    afterAll(async () => {
      for (const child of processes) {
        child.send('end');
        if (child.exitCode === null) await once(child, 'exit');
      }
      await engine.close();
    }, 60_000);

    async function start(): Promise<ChildProcess> {
      const child = forkScript(join(import.meta.dirname, 'host.child.ts'));
      child.send({ address: engine.address });
      await once(child, 'message');
      return child;
    }

    it(`make one user and one welcome grant in each of ${ROUNDS} rounds of ${REQUESTS} parallel requests`, {
      timeout: 120_000,
    }, async () => {
      for (let round = 0; round < ROUNDS; round += 1) {
        const answers = await Promise.all(
          processes.map(async (child, at) => {
            const count = Math.floor((REQUESTS + at) / PROCESSES);
            child.send({ users: Array(count).fill(`user-${round}`) });
            return (await once(child, 'message'))[0] as Answer[];
          }),
        );
        expect(answers.flat()).toHaveLength(REQUESTS);
        const [first, ...others] = new Set(answers.flat().map(({ status, id }) => `${status} ${id}`));
        expect(others).toEqual([]);
        expect(first).toMatch(/^200 [0-9a-f]{24}$/);
        const account = `user:${first?.slice(4)}`;
        const entries = await ports.ledger.entries(account, { limit: 10 });
        expect(entries.map(({ amount }) => amount)).toEqual([fromCredits(5)]);
      }
      expect(await ports.store.collection(USERS).count({})).toBe(ROUNDS);
      const links = await ports.store.collection(EXTERNAL_IDS).find({});
      expect(links.map(({ isWelcomed }) => isWelcomed)).toEqual(Array(ROUNDS).fill(true));
    });
  },
);
