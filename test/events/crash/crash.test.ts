import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { COLLECTIONS, createUser, type HostEvent, issueApiKey } from '@questline/core';
import { BUDGETS, QUESTS } from '@questline/core/internal';
import { afterAll, describe, expect, it } from 'vitest';
import { migrate } from '../../../packages/sql/src/index.ts';
import { type Engine, POSTGRES, POSTGRES_URL, SQLITE_FILE } from '../../../packages/sql/test/engines.ts';
import { forkScript } from '../../support/children/fork.ts';
import type { Crash, CrashPoint, Order } from './protocol.ts';
import { openWorkspace } from './workspace.ts';

const ENGINES: readonly Engine[] = [SQLITE_FILE, ...(POSTGRES_URL === undefined ? [] : [POSTGRES])];
const POINTS: readonly CrashPoint[] = ['before-settle', 'after-settle', 'before-delivery', 'after-delivery'];
const OPERATIONS: readonly Crash['operation'][] = ['chat', 'completion'];
const CALLS = 2;
const GRANT = 9_000_000_000_000;

const CHILD = join(import.meta.dirname, 'crash.child.ts');
const folder = mkdtempSync(join(tmpdir(), 'questline-events-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** @returns the signal that ended the process. */
async function runChild(order: Order, errors: string[]): Promise<NodeJS.Signals | null> {
  const child = forkScript(CHILD);
  child.on('message', ({ error }: { error: string }) => errors.push(error));
  child.send(order);
  const [, signal] = (await once(child, 'exit')) as [number | null, NodeJS.Signals | null];
  return signal;
}

async function setUp(engine: Engine, name: string) {
  const { database, address, close } = await engine.open();
  await migrate(database, { collections: COLLECTIONS });
  const here = openWorkspace(address, { onEvent: () => undefined });
  const user = await createUser(here.services, { email: 'ada@example.com', username: 'ada' });
  if (user === undefined) throw new Error('no user');
  const account = `user:${user.id}`;
  await here.services.ledger.grant({ account, amount: GRANT, key: 'start', reason: 'start' });
  const { key } = await issueApiKey(here.services, {
    userId: user.id,
    name: 'crash',
    scopes: ['ai:chat', 'ai:generate', 'notebooks:write'],
    requestsPerMinute: 1_000_000,
    requestsPerDay: 1_000_000,
  });
  const file = join(folder, `${engine.name}-${name}.ndjson`);
  const readEvents = (): HostEvent[] =>
    existsSync(file)
      ? readFileSync(file, 'utf8')
          .trim()
          .split('\n')
          .map((line) => JSON.parse(line) as HostEvent)
      : [];
  return {
    ...here,
    user,
    account,
    order: { address, key, file, calls: CALLS },
    readEvents,
    async closeAll() {
      await here.close();
      await close();
    },
  };
}

describe.each(ENGINES)('events on $name', (engine) => {
  it('are delivered at least once with the same id when the process is killed at any point', {
    timeout: 600_000,
  }, async () => {
    const { services, user, account, order, readEvents, closeAll } = await setUp(engine, 'all');
    const errors: string[] = [];
    for (const operation of OPERATIONS) {
      for (const point of POINTS) {
        const crash = { point, operation };
        expect([crash, await runChild({ ...order, crash }, errors)]).toEqual([crash, 'SIGKILL']);
      }
    }
    expect(await runChild(order, errors)).toBe(null);
    expect(errors).toEqual([]);

    const events = readEvents();
    const heard = new Map<string, HostEvent>();
    for (const event of events) {
      const known = heard.get(event.id);
      if (known !== undefined) expect({ ...event, createdAt: 0 }).toEqual({ ...known, createdAt: 0 });
      heard.set(event.id, event);
    }
    const get = <T extends HostEvent['type']>(type: T) =>
      [...heard.values()].filter((event): event is Extract<HostEvent, { type: T }> => event.type === type);

    const entries = await services.ledger.entries(account, { limit: 1000 });
    const charged = entries.filter(({ kind }) => kind === 'charge');
    const charges = get('charge.settled');
    expect(charges.reduce((sum, { data }) => sum + data.amount, 0)).toBe(
      charged.reduce((sum, { amount }) => sum - amount, 0),
    );
    expect(charges.map(({ data }) => data.amount).sort()).toEqual(
      charged.map(({ amount }) => -amount).sort(),
    );
    const quests = await services.store.collection(QUESTS).find({ ownerId: user.id }, { limit: 1000 });
    expect(quests.filter(({ status }) => status !== 'done')).toEqual([]);
    const ended = [...get('quest.done'), ...get('quest.failed')].map(({ data }) => data.id);
    expect(ended.sort()).toEqual(quests.map(({ id }) => id).sort());
    expect(get('key.created')).toHaveLength(1);
    expect(get('user.created')).toHaveLength(1);
    console.info(
      `${engine.name}: ${OPERATIONS.length * POINTS.length} kills, ${heard.size} events, ${events.length - heard.size} delivered twice, 0 lost`,
    );
    await closeAll();
  });

  it('report a budget whose last call was killed after its settlement', { timeout: 120_000 }, async () => {
    const { services, user, order, readEvents, closeAll } = await setUp(engine, 'budget');
    const id = services.ids.next();
    await services.store.collection(BUDGETS).insert({
      ...{
        id,
        name: 'Two requests',
        scope: 'user',
        scopeId: user.id,
        subject: `user:${user.id}`,
        models: null,
      },
      ...{
        window: 'total',
        timeZone: 'UTC',
        unit: 'requests',
        amount: 2,
        action: 'notify',
        ownKeys: 'count',
      },
      ...{ managedBy: 'owner', userId: user.id, signature: 'one', createdAt: 0, updatedAt: 0 },
    });
    const errors: string[] = [];
    const getThresholds = (): number[] =>
      readEvents().flatMap((event) => (event.type === 'budget.threshold' ? [event.data.threshold] : []));
    const crash: Crash = { point: 'after-settle', operation: 'completion' };
    expect(await runChild({ ...order, crash }, errors)).toBe('SIGKILL');
    expect(getThresholds()).not.toContain(100);
    expect(await runChild({ ...order, calls: 0 }, errors)).toBe(null);
    expect(errors).toEqual([]);
    expect(new Set(getThresholds())).toEqual(new Set([50, 80, 100]));
    await closeAll();
  });
});
