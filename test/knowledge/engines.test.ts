import { setTimeout as sleep } from 'node:timers/promises';
import {
  COLLECTIONS,
  createApi,
  createDemoProvider,
  createServices,
  createUser,
  toFetchHandler,
} from '@questline/core';
import { LAKE_FILES } from '@questline/core/internal';
import { createIds, createMemoryObjects, createSystemClock } from '@questline/core/memory';
import { createSqlPorts, migrate } from '@questline/sql';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ENGINES, type OpenEngine } from '../../packages/sql/test/engines.ts';
import type { AnswerBody } from '../support/answers.ts';

const FILES = 20;

/** Two processes with workers on one database that receive requests alternately. */
async function openTwo(engine: OpenEngine) {
  await migrate(engine.database, { collections: COLLECTIONS });
  const objects = createMemoryObjects();
  const open = (database: OpenEngine['database']) => {
    const clock = createSystemClock();
    const ids = createIds();
    return createServices(
      { ...createSqlPorts(database, { clock, ids }), models: [createDemoProvider()], objects, clock, ids },
      {
        jwtSecret: 'a'.repeat(64),
        admin: { EnableDataLakes: true, enforceCredits: false },
        worker: { pollMs: 50 },
      },
    );
  };
  const both = [open(engine.database), open(engine.peer())] as const;
  const [services] = both;
  const user = await createUser(services, { email: 'ada@example.com', username: 'ada' });
  if (user === undefined) throw new Error('no user');
  const token = await services.tokens.sign({ id: user.id, tokenVersion: user.tokenVersion, typ: 'access' });
  const apis = both.map((one) => createApi(one));
  const handles = apis.map((api) => toFetchHandler(api));
  let turn = 0;
  return {
    services,
    user,
    start: () => Promise.all(apis.map((api) => api.start())),
    close: () => Promise.all(apis.map((api) => api.close())),
    async ask<const Method extends string, const Path extends string>(
      method: Method,
      path: Path,
      body?: object,
    ) {
      turn += 1;
      const response = await handles[turn % 2]?.(
        new Request(`http://questline.test/api/v1/${path}`, {
          method,
          headers: { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' },
          ...(body !== undefined && { body: JSON.stringify(body) }),
        }),
      );
      const text = await response?.text();
      const answer: AnswerBody<Method, `/api/v1/${Path}`> = text ? JSON.parse(text) : undefined;
      return { status: response?.status, body: answer };
    },
  };
}

describe.each(ENGINES)('data lakes of two processes on $name', (kind) => {
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

  it('are empty after parallel additions, removals and deletions of files', async () => {
    const { services, user, ask } = two;
    const { body: lake } = await ask('POST', 'data-lakes', { name: 'Papers' });
    const ids = await Promise.all(
      Array.from({ length: FILES }, async (_, number) => {
        const content = Buffer.from(`Paper ${number} says a few words.`);
        const made = { name: `${number}.txt`, mimeType: 'text/plain', content };
        return (await services.library.save(user.id, made)).file?.id ?? '';
      }),
    );
    const place = (id: string) => `data-lakes/${lake.id}/files/${id}` as const;
    // Every second one while it is being ingested.
    await Promise.all(
      ids.map(async (id, number) => {
        expect((await ask('POST', place(id))).status).toBe(200);
        while (number % 2 === 0 && (await ask('GET', place(id))).body.ingestion_status !== 'ready')
          await sleep(20);
        const both = [ask('DELETE', `files/${id}`), ...(number % 3 === 0 ? [ask('DELETE', place(id))] : [])];
        expect((await Promise.all(both)).map(({ status }) => status)).toEqual(
          number % 3 === 0 ? [204, 200] : [204],
        );
        expect((await ask('GET', place(id))).status).toBe(404);
      }),
    );
    expect(
      (await ask('POST', `data-lakes/${lake.id}/search`, { query: 'paper words' })).body.results,
    ).toEqual([]);
    const left = async () => {
      const { file_count, total_size_bytes } = (await ask('GET', `data-lakes/${lake.id}`)).body;
      const records = await services.store.collection(LAKE_FILES).count({ lakeId: lake.id });
      return [file_count, total_size_bytes, records, await services.vectors.count({ lakeId: lake.id })];
    };
    while ((await left()).some((count) => count !== 0)) await sleep(50);
    expect(await left()).toEqual([0, 0, 0, 0]);
  });
});
