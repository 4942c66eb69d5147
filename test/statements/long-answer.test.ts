import { setImmediate as turn } from 'node:timers/promises';
import { COLLECTIONS, createApi, createServices, toFetchHandler } from '@questline/core';
import { QUEST_TEXTS } from '@questline/core/internal';
import { createSqlPorts, migrate, type SqlDatabase } from '@questline/sql';
import { createRandom } from '@questline/testing';
import pg from 'pg';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { SqlStatement } from '../../packages/sql/src/statement.ts';
import { type OpenEngine, POSTGRES, POSTGRES_URL } from '../../packages/sql/test/engines.ts';
import { createChatApp, silent } from '../support/chat.ts';
import { openFrames } from '../support/live-events.ts';
import { observe } from './recording.ts';

const SECONDS = 40;
const PARTS_A_SECOND = 10;
const PART = 41;
const MAX_WRITES = 12;
const MAX_BYTES = 20 * 1024;
/** The commit of a statement, in bytes of WAL. */
const COMMIT = 60;
/** Where the progress of a quest is written. */
const TABLES = /"questline_(?:quests|quest_texts|event_batches)"/;
const WORDS =
  'the of river answer question light paper water under which between morning letter people small again story mountain because while through garden';

interface Written {
  readonly writes: number;
  /** Of the parameters. */
  readonly bytes: number;
  readonly wal: number;
}

/** Text that compresses like prose, 16.4 KB in all. */
function createWriter(): () => string {
  const random = createRandom(7);
  const words = WORDS.split(' ');
  let rest = '';
  return () => {
    while (rest.length < PART) rest += `${random.pick(words)} `;
    const part = rest.slice(0, PART);
    rest = rest.slice(PART);
    return part;
  };
}

describe.skipIf(POSTGRES_URL === undefined)('an answer of 16 KB in 40 seconds', () => {
  let engine: OpenEngine;
  let client: pg.Client;
  beforeEach(async () => {
    engine = await POSTGRES.open();
    await migrate(engine.database, { collections: COLLECTIONS });
    client = new pg.Client({ connectionString: POSTGRES_URL });
    await client.connect();
  });
  afterEach(async () => {
    await client.end();
    await engine.close();
  });

  /** The WAL of a statement. It runs twice and is undone: images of whole pages belong to the first time after a checkpoint. */
  const measure = async ({ sql, parameters }: SqlStatement): Promise<number> => {
    let bytes = 0;
    for (let run = 0; run < 2; run += 1) {
      await client.query('begin');
      const { rows } = await client.query(`explain (analyze, wal, format json) ${sql}`, [...parameters]);
      await client.query('rollback');
      bytes = Number(rows[0]['QUERY PLAN'][0].Plan['WAL Bytes']);
    }
    return bytes + COMMIT;
  };

  async function open() {
    let isMeasured = false;
    let running = 0;
    const written = { writes: 0, bytes: 0, wal: 0 };
    const measured: SqlDatabase = {
      ...engine.database,
      async run(statement, options) {
        const { sql, parameters } = statement;
        if (isMeasured && TABLES.test(sql) && /\b(?:insert|update|delete)\b/.test(sql)) {
          written.writes += 1;
          written.bytes += parameters.reduce<number>((sum, value) => sum + String(value).length, 0);
          written.wal += await measure(statement);
        }
        return engine.database.run(statement, options);
      },
    };
    const database = observe(
      measured,
      () => undefined,
      (change) => {
        running += change;
      },
    );
    const app = await createChatApp({
      onCall: silent,
      ports: (given) => createSqlPorts(database, given),
      settings: { worker: { pollMs: 300_000 } },
    });
    const idle = async (): Promise<void> => {
      for (let quiet = 0; quiet < 5; ) {
        await turn();
        quiet = running === 0 ? quiet + 1 : 0;
      }
    };
    const until = async (isSo: () => boolean): Promise<void> => {
      while (!isSo()) await turn();
    };
    const { id } = (await app.chat({ message: 'Write' })).body;
    await until(() => app.calls.length > 0);
    await idle();
    const write = createWriter();
    return {
      app,
      id,
      idle,
      /** Streams the answer. @returns what it cost until its end. */
      async stream(seconds: number): Promise<Written> {
        isMeasured = true;
        for (let part = 0; part < seconds * PARTS_A_SECOND; part += 1) {
          app.calls[0]?.say({ type: 'text', text: write() });
          await app.settle();
          await app.clock.advance(1000 / PARTS_A_SECOND);
          await idle();
        }
        isMeasured = false;
        return { ...written };
      },
      async end(): Promise<Written> {
        isMeasured = true;
        app.calls[0]?.end();
        for (let status = ''; status !== 'done'; await idle()) status = String((await app.poll(id)).status);
        isMeasured = false;
        await app.api.close();
        return { ...written };
      },
    };
  }

  it(`costs at most ${MAX_WRITES} writes and 20 KB of WAL until its end`, { timeout: 120_000 }, async () => {
    const { app, id, stream, end } = await open();
    const cost = await stream(SECONDS);
    const store = createSqlPorts(engine.database, app.services).store;
    const pieces = await store.collection(QUEST_TEXTS).find({ questId: id });
    // Another process reads them.
    const other = createServices(
      { ...createSqlPorts(engine.database, app.services), clock: app.clock, models: [] },
      { jwtSecret: 'a'.repeat(64) },
    );
    const request = new Request(`http://questline.test/api/v1/quests/${id}`, {
      headers: { Authorization: `Bearer ${app.key}` },
    });
    const poll = await toFetchHandler(createApi(other, { worker: false }))(request);
    const partial = String(((await poll?.json()) as { reply: string } | undefined)?.reply);
    expect(partial.length).toBeGreaterThanOrEqual((SECONDS - 5) * PARTS_A_SECOND * PART);
    const all = await end();
    console.info('an answer of 16 KB in 40 s:', cost, 'with its end:', all);
    expect(cost.writes).toBeLessThanOrEqual(MAX_WRITES);
    expect(cost.wal).toBeLessThanOrEqual(MAX_BYTES);
    expect(cost.wal).toBeGreaterThan(MAX_BYTES / 4);
    expect(pieces.length).toBeGreaterThan(5);
    expect(await store.collection(QUEST_TEXTS).find({ questId: id })).toEqual([]);
    const { reply } = await app.poll(id);
    expect(String(reply).length).toBe(SECONDS * PARTS_A_SECOND * PART);
    expect(String(reply).startsWith(partial)).toBe(true);
  });

  it('costs at most 20 writes a second while a reader follows it', { timeout: 120_000 }, async () => {
    const { app, id, stream, end } = await open();
    const reader = openFrames(await app.ask('GET', `/api/v1/quests/${id}/events`));
    const reading = reader.next();
    await app.clock.advance(100);
    await reading;
    const { writes } = await stream(4);
    await end();
    expect(writes).toBeGreaterThan(4 * 10);
    expect(writes).toBeLessThanOrEqual(4 * 20);
  });
});
