import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { COLLECTIONS, createApi, createServices, createUser, toFetchHandler } from '@questline/core';
import { createIds, createSystemClock } from '@questline/core/memory';
import { createSqlPorts, migrate } from '@questline/sql';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type OpenEngine, POSTGRES, POSTGRES_URL, SQLITE_FILE } from '../../../packages/sql/test/engines.ts';
import { forkScript } from '../../support/children/fork.ts';
import { CLIENT_ID, type Codes, DEVICE_GRANT } from '../../support/device-login.ts';
import type { Answer, Call } from './protocol.ts';

const ENGINES = POSTGRES_URL === undefined ? [SQLITE_FILE] : [SQLITE_FILE, POSTGRES];
const PROCESSES = 4;
const POLLS = 50;

describe.each(ENGINES)('device login with four processes on one database, $name', ({ open }) => {
  let engine: OpenEngine;
  let processes: ChildProcess[];

  beforeAll(async () => {
    engine = await open();
    await migrate(engine.database, { collections: COLLECTIONS });
    processes = await Promise.all(Array.from({ length: PROCESSES }, start));
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

  it('issues one pair of tokens to 50 parallel polls in each of 5 rounds', { timeout: 120_000 }, async () => {
    const clock = createSystemClock();
    const ids = createIds({ clock });
    const ports = createSqlPorts(engine.database, { clock, ids });
    const services = createServices({ ...ports, clock, ids, models: [] }, { jwtSecret: 'a'.repeat(64) });
    const handle = toFetchHandler(createApi(services));
    const user = await createUser(services, { email: 'ada@example.com', username: 'ada' });
    if (user === undefined) throw new Error('the address already has an account');
    const token = await services.tokens.sign({ id: user.id, tokenVersion: 0, typ: 'access' });
    const post = async (path: string, body: object): Promise<unknown> => {
      const request = new Request(`http://questline.test${path}`, {
        method: 'POST',
        headers: { 'Content-Type': 'application/json', Authorization: `Bearer ${token}` },
        body: JSON.stringify(body),
      });
      return (await handle(request))?.json();
    };

    for (let round = 0; round < 5; round += 1) {
      const codes = (await post('/api/oauth/device/initiate', { client_id: CLIENT_ID })) as Codes;
      await post('/api/oauth/device/verify', { user_code: codes.user_code, action: 'approve' });
      const call: Call = {
        registration: 'closed',
        path: '/api/oauth/device/token',
        body: { grant_type: DEVICE_GRANT, device_code: codes.device_code, client_id: CLIENT_ID },
        from: '203.0.113.1',
      };
      const answers = await Promise.all(
        processes.map(async (child, index) => {
          const share = Array(Math.ceil((POLLS - index) / PROCESSES)).fill(call) as Call[];
          child.send({ kind: 'calls', calls: share });
          return (await once(child, 'message'))[0] as Answer[];
        }),
      );
      const statuses = answers.flat().map(({ status }) => status);
      expect(statuses.sort()).toEqual([200, ...Array(POLLS - 1).fill(400)]);
    }
  });
});
