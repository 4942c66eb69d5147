import { COLLECTIONS, createApi, createServices, createUser, toFetchHandler } from '@questline/core';
import { createIds, createSystemClock } from '@questline/core/memory';
import { createSqlPorts, migrate } from '@questline/sql';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ENGINES, type OpenEngine } from '../../packages/sql/test/engines.ts';

const MAX_AGENTS = 5;
const AT_ONCE = 12;

type Ask = (method: string, path: string, body?: object) => Promise<{ status: number; body: never }>;

/** Two processes on one database that answer the same signed-in user alternately. */
async function openTwo(engine: OpenEngine): Promise<{ ask: Ask; close(): Promise<void> }> {
  await migrate(engine.database, { collections: COLLECTIONS });
  const open = (database: OpenEngine['database']) => {
    const clock = createSystemClock();
    const ids = createIds();
    return createServices(
      { ...createSqlPorts(database, { clock, ids }), models: [], clock, ids },
      { jwtSecret: 'a'.repeat(64), admin: { MaxAgentsPerUser: MAX_AGENTS } },
    );
  };
  const both = [open(engine.database), open(engine.peer())] as const;
  const [{ tokens }] = both;
  const user = await createUser(both[0], { email: 'ada@example.com', username: 'ada' });
  if (user === undefined) throw new Error('no user');
  const token = await tokens.sign({ id: user.id, tokenVersion: user.tokenVersion, typ: 'access' });
  const apis = both.map((services) => createApi(services));
  const handles = apis.map((api) => toFetchHandler(api));
  let turn = 0;
  return {
    async ask(method, path, body) {
      turn += 1;
      const request = new Request(`http://questline.test${path}`, {
        method,
        headers: { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' },
        ...(body !== undefined && { body: JSON.stringify(body) }),
      });
      const response = await handles[turn % 2]?.(request);
      const text = (await response?.text()) ?? '';
      return { status: response?.status ?? 0, body: (text === '' ? null : JSON.parse(text)) as never };
    },
    async close() {
      for (const api of apis) await api.close();
    },
  };
}

describe.each(ENGINES)('parallel changes in two processes on $name', (kind) => {
  let engine: OpenEngine;
  let two: Awaited<ReturnType<typeof openTwo>>;

  beforeAll(async () => {
    engine = await kind.open();
    two = await openTwo(engine);
  });

  afterAll(async () => {
    await two.close();
    await engine.close();
  });

  /** The sorted statuses of parallel requests. */
  const statuses = async (ask: (index: number) => Promise<{ status: number }>): Promise<number[]> =>
    (await Promise.all(Array.from({ length: AT_ONCE }, (_, index) => ask(index))))
      .map(({ status }) => status)
      .sort();
  const with1 = (status: number, others: number): number[] =>
    [status, ...Array<number>(AT_ONCE - 1).fill(others)].sort();

  it('stops parallel agent creations at the limit', async () => {
    const made = await statuses(() => two.ask('POST', '/api/v1/agents', { name: 'Grace' }));
    expect(made.filter((status) => status === 201)).toHaveLength(MAX_AGENTS);
    expect(made.filter((status) => status === 400)).toHaveLength(AT_ONCE - MAX_AGENTS);
  });

  it('keeps every parallel attachment and detachment of agents', async () => {
    const { data }: { data: { id: string }[] } = (await two.ask('GET', '/api/v1/agents?limit=1')).body;
    const session: { id: string } = (await two.ask('POST', '/api/v1/sessions', { name: 'Work' })).body;
    const path = `/api/sessions/${session.id}/agents`;
    const agentId = data[0]?.id;
    expect(await statuses(() => two.ask('POST', path, { agentId }))).toEqual(with1(200, 409));
    expect(await statuses(() => two.ask('DELETE', `${path}?agentId=${agentId}`))).toEqual(with1(200, 409));
  });

  it('gives a name to one of several parallel projects', async () => {
    const body = { name: 'Engine', description: 'All about it.' };
    expect(await statuses(() => two.ask('POST', '/api/v1/projects', body))).toEqual(with1(201, 422));
  });

  it('stores a version for every parallel change of an artifact', async () => {
    const input = { type: 'code', title: 'Loop', content: '0' };
    const { id }: { id: string } = (await two.ask('POST', '/api/v1/artifacts', input)).body;
    const path = `/api/v1/artifacts/${id}`;
    const changed = await statuses((index) => two.ask('PATCH', path, { content: `change ${index}` }));
    expect(changed).toEqual(Array(AT_ONCE).fill(200));
    const { data }: { data: { version: number }[] } = (await two.ask('GET', `${path}/versions`)).body;
    expect(data.map(({ version }) => version)).toEqual(
      Array.from({ length: AT_ONCE + 1 }, (_, at) => at + 1),
    );
    expect((await two.ask('DELETE', path)).status).toBe(204);
    expect((await two.ask('GET', path)).status).toBe(404);
  });
});
