import {
  COLLECTIONS,
  createApi,
  createServices,
  createUser,
  fromCredits,
  toFetchHandler,
} from '@questline/core';
import { GENERATIONS } from '@questline/core/internal';
import { createIds, createMemoryObjects, createSystemClock } from '@questline/core/memory';
import { createSqlPorts, migrate } from '@questline/sql';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ENGINES, type OpenEngine } from '../../packages/sql/test/engines.ts';
import type { AnswerBody } from '../support/answers.ts';
import { createVideoStudio, done } from '../support/generations.ts';

/** Credits for exactly one video. */
const CREDITS = 8;
const AT_ONCE = 50;

/** Two processes with workers on one database that receive requests alternately. */
async function openTwo(engine: OpenEngine) {
  await migrate(engine.database, { collections: COLLECTIONS });
  const studio = createVideoStudio({ onJob: (job) => job.request.prompt !== 'endless' && done(job) });
  const objects = createMemoryObjects();
  const open = (database: OpenEngine['database']) => {
    const clock = createSystemClock();
    const ids = createIds();
    return createServices(
      { ...createSqlPorts(database, { clock, ids }), models: [studio], objects, clock, ids },
      { jwtSecret: 'a'.repeat(64), generations: { pollMs: 100 }, worker: { pollMs: 50 } },
    );
  };
  const both = [open(engine.database), open(engine.peer())] as const;
  const [services] = both;
  const user = await createUser(services, { email: 'ada@example.com', username: 'ada' });
  if (user === undefined) throw new Error('no user');
  const account = `user:${user.id}`;
  const grant = (key: string) =>
    services.ledger.grant({ account, amount: fromCredits(CREDITS), key, reason: key });
  const token = await services.tokens.sign({ id: user.id, tokenVersion: user.tokenVersion, typ: 'access' });
  const apis = both.map((one) => createApi(one));
  const handles = apis.map((api) => toFetchHandler(api));
  let turn = 0;
  return {
    services,
    studio,
    account,
    grant,
    start: () => Promise.all(apis.map((api) => api.start())),
    close: () => Promise.all(apis.map((api) => api.close())),
    async ask<const Method extends string, const Path extends string>(
      method: Method,
      path: Path,
      body?: object,
      headers: Record<string, string> = {},
    ) {
      turn += 1;
      const request = new Request(`http://questline.test/api/v1/video-generations${path}`, {
        method,
        headers: { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json', ...headers },
        ...(body !== undefined && { body: JSON.stringify(body) }),
      });
      const response = await handles[turn % 2]?.(request);
      const answer = (await response?.json()) as AnswerBody<Method, `/api/v1/video-generations${Path}`>;
      return { status: response?.status, body: answer };
    },
  };
}

describe.each(ENGINES)('two processes on $name', (kind) => {
  let engine: OpenEngine;
  let two: Awaited<ReturnType<typeof openTwo>>;

  beforeAll(async () => {
    engine = await kind.open();
    two = await openTwo(engine);
    await two.start();
  });

  afterAll(async () => {
    await two.close();
    await engine.close();
  });

  const video = (prompt: string, headers?: Record<string, string>) =>
    two.ask('POST', '', { model: 'director', prompt }, headers);
  const become = (id: string, state: string) =>
    expect.poll(async () => (await two.ask('GET', `/${id}`)).body.state, { timeout: 60_000 }).toBe(state);

  it(`make one video for ${AT_ONCE} requests with one Idempotency-Key and credit for one`, async () => {
    await two.grant('first');
    const answers = await Promise.all(
      Array.from({ length: AT_ONCE }, () => video('A cat', { 'Idempotency-Key': 'one' })),
    );
    for (const answer of answers) expect(answer).toEqual(answers[0]);
    expect(answers[0]?.status).toBe(202);
    await become(answers[0]?.body.id ?? '', 'succeeded');
    expect(two.studio.videos.all).toHaveLength(1);
    expect(await two.services.ledger.balance(two.account)).toMatchObject({ posted: 0, held: 0 });
  });

  it('accept one of many requests with credit for one and store nothing of the others', async () => {
    await two.grant('second');
    const answers = await Promise.all(Array.from({ length: AT_ONCE }, () => video('A dog')));
    const accepted = answers.filter(({ status }) => status === 202);
    expect(accepted).toHaveLength(1);
    expect(answers.filter(({ status }) => status === 422)).toHaveLength(AT_ONCE - 1);
    await become(accepted[0]?.body.id ?? '', 'succeeded');
    expect(await two.services.store.collection(GENERATIONS).count({})).toBe(2);
    expect((await two.ask('GET', '?state=succeeded')).body.data).toHaveLength(2);
  });

  it('release a cancelled video and cancel its job at the provider', async () => {
    await two.grant('third');
    const { body } = await video('endless');
    await become(body.id, 'running');
    await expect.poll(() => two.studio.videos.all.length, { timeout: 60_000 }).toBe(3);
    expect((await two.ask('POST', `/${body.id}/cancel`)).body).toMatchObject({ state: 'cancelled' });
    expect(await two.services.ledger.balance(two.account)).toMatchObject({
      posted: fromCredits(CREDITS),
      held: 0,
    });
    await expect.poll(() => two.studio.videos.all[2]?.isCancelled, { timeout: 60_000 }).toBe(true);
  });
});
