/**
 * Four processes send 1,000 completions with two keys of one user, against budgets on both keys, the user and everyone.
 * `npm run budget-race`; `-- 2 200`: two processes, 200 calls.
 */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import {
  COLLECTIONS,
  createApi,
  createDemoProvider,
  createServices,
  createUser,
  issueApiKey,
  type Services,
  toFetchHandler,
} from '@questline/core';
import { BUDGETS } from '@questline/core/internal';
import { createIds, createSystemClock } from '@questline/core/memory';
import { createRedisPorts } from '@questline/redis';
import { createSqlPorts, migrate } from '@questline/sql';
import { Redis } from 'ioredis';
import { connect } from '../packages/sql/test/connect.ts';
import { type EngineAddress, POSTGRES, POSTGRES_URL, SQLITE_FILE } from '../packages/sql/test/engines.ts';

interface Work {
  readonly address: EngineAddress;
  readonly redisUrl: string | undefined;
  readonly keys: readonly string[];
  readonly calls: number;
}

const SECRET = 'a'.repeat(64);
const REDIS_URL = process.env.QUESTLINE_TEST_REDIS_URL;
const [count = 4, calls = 1000] = process.argv.slice(2).map(Number);

function open({ address, redisUrl }: Pick<Work, 'address' | 'redisUrl'>) {
  const { database, close } = connect(address);
  const clock = createSystemClock();
  const ids = createIds({ clock });
  const redis = redisUrl === undefined ? undefined : new Redis(redisUrl);
  const shared =
    redis && createRedisPorts({ client: redis, prefix: 'questline-budget-race', timeoutMs: 20_000 });
  const ports = { ...createSqlPorts(database, { clock, ids }), ...shared };
  const services = createServices(
    { ...ports, models: [createDemoProvider()], clock, ids },
    { jwtSecret: SECRET },
  );
  return {
    services,
    async close() {
      redis?.disconnect();
      await close();
    },
  };
}

/** Sends its share of the calls at once. @returns the admitted ones of each key. */
async function send({ services }: { services: Services }, { keys, calls: share }: Work): Promise<number[]> {
  const handle = toFetchHandler(createApi(services, { worker: false }));
  const admitted = keys.map(() => 0);
  const one = async (_: unknown, at: number): Promise<void> => {
    const place = at % keys.length;
    const response = await handle(
      new Request('http://localhost/api/ai/v1/completions', {
        method: 'POST',
        headers: { authorization: `Bearer ${keys[place]}`, 'content-type': 'application/json' },
        body: JSON.stringify({
          model: 'demo-echo',
          messages: [{ role: 'user', content: 'Hi' }],
          stream: false,
        }),
      }),
    );
    const text = await response?.text();
    if (response?.status === 200) admitted[place] = (admitted[place] ?? 0) + 1;
    else if (!text?.includes('budget_exceeded')) throw new Error(`${response?.status}: ${text}`);
  };
  await Promise.all(Array.from({ length: share }, one));
  return admitted;
}

async function run(name: string, engine: typeof SQLITE_FILE, redisUrl: string | undefined): Promise<boolean> {
  const opened = await engine.open();
  await migrate(opened.database, { collections: COLLECTIONS });
  const { address } = opened;
  const app = open({ address, redisUrl });
  const user = await createUser(app.services, { email: 'race@example.com', username: 'race' });
  if (user === undefined) throw new Error('the user exists');
  const account = `user:${user.id}`;
  await app.services.ledger.grant({ account, amount: 10 ** 12, key: 'race', reason: 'race' });
  const limits = { requestsPerMinute: 100_000, requestsPerDay: 100_000 };
  const keys = await Promise.all(
    ['a', 'b'].map((key) =>
      issueApiKey(app.services, { userId: user.id, name: key, scopes: ['ai:generate'], ...limits }),
    ),
  );
  const amounts = { key: Math.ceil(calls / 5), user: Math.ceil(calls * 0.3), everyone: Math.ceil(calls / 2) };
  const subjects = [...keys.map(({ record }) => `key:${record.id}`), `user:${user.id}`, 'everyone'];
  for (const subject of subjects) {
    const [scope = '', scopeId = null] = subject.split(':');
    await app.services.store.collection(BUDGETS).insert({
      id: app.services.ids.next(),
      ...{ name: subject, subject, scope: scope as 'key', scopeId, models: null, userId: null },
      ...{ window: 'total', timeZone: 'UTC', unit: 'requests', action: 'refuse', ownKeys: 'count' },
      amount: amounts[scope as 'key'],
      ...{ managedBy: 'administrator', signature: subject, createdAt: 0, updatedAt: 0 },
    });
  }
  const began = Date.now();
  const answers = await Promise.all(
    Array.from({ length: count }, async () => {
      const child = fork(import.meta.filename, ['child'], {
        execArgv: ['--conditions=@questline/source', '--disable-warning=ExperimentalWarning'],
      });
      child.send({
        address,
        redisUrl,
        keys: keys.map(({ key }) => key),
        calls: calls / count,
      } satisfies Work);
      const [answer] = (await once(child, 'message')) as [number[]];
      return answer;
    }),
  );
  const perKey = keys.map((_, place) => answers.reduce((sum, one) => sum + (one[place] ?? 0), 0));
  const total = perKey.reduce((sum, one) => sum + one, 0);
  const isExact = total === amounts.user && perKey.every((one) => one <= amounts.key);
  console.log(
    `${name}: ${count} processes, ${calls} calls: admitted ${total} of ${amounts.user} (user), keys ${perKey} of ${amounts.key} each, ` +
      `everyone ${total} of ${amounts.everyone}; ${Math.max(0, total - amounts.user)} over; ${Date.now() - began} ms`,
  );
  await app.close();
  await opened.close();
  return isExact;
}

if (process.argv[2] === 'child') {
  process.once('message', async (work: Work) => {
    const app = open(work);
    const admitted = await send(app, work);
    await app.close();
    // The publisher keeps a connection of its own.
    process.send?.(admitted, () => process.exit(0));
  });
} else {
  const results = [await run('SQLite', SQLITE_FILE, undefined)];
  if (POSTGRES_URL !== undefined) results.push(await run('PostgreSQL', POSTGRES, undefined));
  if (POSTGRES_URL !== undefined && REDIS_URL !== undefined) {
    results.push(await run('PostgreSQL + Redis', POSTGRES, REDIS_URL));
  }
  process.exit(results.every(Boolean) ? 0 : 1);
}
