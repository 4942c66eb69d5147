import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  COLLECTIONS,
  createApi,
  createServices,
  createUser,
  issueApiKey,
  toFetchHandler,
} from '@questline/core';
import { createIds, createSystemClock } from '@questline/core/memory';
import { createSqliteDatabase, createSqlPorts, migrate } from '@questline/sql';
import { expect, it, onTestFinished } from 'vitest';
import { answerParts } from '../support/chat.ts';
import { createScriptedProvider, type ModelCall } from '../support/model.ts';

const MARKER = 'MARKER-OF-A-REQUEST';

it('never stores systemPrompt in plain text in a database file, and another process decrypts it', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'questline-sealed-'));
  const database = createSqliteDatabase({ path: join(folder, 'questline.db') });
  onTestFinished(async () => {
    await database.close();
    rmSync(folder, { recursive: true });
  });
  await migrate(database, { collections: COLLECTIONS });
  let heard: (call: ModelCall) => void = () => undefined;
  const asked = new Promise<ModelCall>((resolve) => {
    heard = resolve;
  });
  const open = () => {
    const clock = createSystemClock();
    const ids = createIds();
    const models = [createScriptedProvider((call) => heard(call))];
    const services = createServices(
      { ...createSqlPorts(database, { clock, ids }), models, clock, ids },
      { jwtSecret: 'a'.repeat(64), admin: { DefaultAPIModel: 'scripted' }, worker: { pollMs: 20 } },
    );
    const api = createApi(services);
    onTestFinished(() => api.close());
    return { services, api };
  };
  /** Database, write-ahead log and shared memory. */
  const holdsMarker = (): string[] =>
    readdirSync(folder).filter((name) => readFileSync(join(folder, name)).includes(MARKER));

  const accepting = open();
  const working = open();
  const user = await createUser(accepting.services, { email: 'ada@example.com', username: 'ada' });
  if (user === undefined) throw new Error('there is no user');
  const { ledger } = accepting.services;
  await ledger.grant({ account: `user:${user.id}`, amount: 1e9, key: 'start', reason: 'start' });
  const input = { userId: user.id, name: 'test', scopes: ['ai:chat'] } as const;
  const { key } = await issueApiKey(accepting.services, input);
  const handle = toFetchHandler(accepting.api);
  const ask = async (method: string, path: string, body?: object) => {
    const headers = { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json' };
    const request = { method, headers, ...(body !== undefined && { body: JSON.stringify(body) }) };
    return (await (await handle(new Request(`http://test${path}`, request)))?.json()) as Record<
      string,
      string
    >;
  };

  const { id } = await ask('POST', '/api/chat', {
    message: 'Hi',
    systemPrompt: MARKER,
    includeSystemPrompt: true,
  });
  expect(holdsMarker()).toEqual([]);
  await working.api.start();
  const call = await asked;
  expect(JSON.stringify(call.request)).toContain(MARKER);
  expect(holdsMarker()).toEqual([]);
  call.say(...answerParts('Hello.'));
  call.end();
  await expect
    .poll(async () => (await ask('GET', `/api/v1/quests/${id}`)).status, { timeout: 10_000 })
    .toBe('done');
  expect((await ask('GET', `/api/v1/quests/${id}`)).promptText).toContain(MARKER);
  expect(holdsMarker()).toEqual([]);
});
