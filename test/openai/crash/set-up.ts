import { join } from 'node:path';
import { COLLECTIONS, createUser, issueApiKey } from '@questline/core';
import OpenAI from 'openai';
import { migrate } from '../../../packages/sql/src/index.ts';
import type { Engine } from '../../../packages/sql/test/engines.ts';
import { startServerProcess } from '../../support/server-process.ts';
import { type Address, openWorkspace } from './workspace.ts';

const CHILD = join(import.meta.dirname, 'crash.child.ts');

/** The workspace of the test, beside that of the processes. */
export async function setUp(engine: Engine, speed?: Address['speed']) {
  const opened = await engine.open();
  await migrate(opened.database, { collections: COLLECTIONS });
  const address = { engine: opened.address, stopsAt: 'nowhere' as const, ...(speed && { speed }) };
  const { services, close } = await openWorkspace(address, () => undefined);
  const user = await createUser(services, { email: 'ada@example.com', username: 'ada' });
  if (user === undefined) throw new Error('no user');
  const account = `user:${user.id}`;
  await services.ledger.grant({ account, amount: 1e9, key: 'start', reason: 'start' });
  const { key } = await issueApiKey(services, {
    userId: user.id,
    name: 'crash',
    scopes: ['ai:chat'],
    // Tests poll with it.
    requestsPerMinute: 1_000_000,
    requestsPerDay: 1_000_000,
  });
  return {
    services,
    account,
    async start(stopsAt: Address['stopsAt']) {
      const server = await startServerProcess(CHILD, { ...address, stopsAt });
      const client = new OpenAI({ apiKey: key, baseURL: `${server.url}/openai/v1`, maxRetries: 0 });
      return { server, client };
    },
    async closeAll() {
      await close();
      await opened.close();
    },
  };
}
