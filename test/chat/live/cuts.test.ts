import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createUser, issueApiKey, toNodeListener } from '@questline/core';
import { QUESTS } from '@questline/core/internal';
import { createRandom } from '@questline/testing';
import { afterAll, afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { type OpenEngine, POSTGRES, POSTGRES_URL, SQLITE_FILE } from '../../../packages/sql/test/engines.ts';
import { type ServerProcess, startServerProcess, stopServerProcess } from '../../support/server-process.ts';
import { followWithCuts } from './cutting-client.ts';
import { openWorkspace } from './workspace.ts';

const CUTS = process.env.CI === 'true' ? 200 : 40;
const READERS = 40;
const GRANT = 9_000_000_000_000;
const TIMEOUT_MS = 240_000;

const CHILD = join(import.meta.dirname, 'live.child.ts');
const folder = mkdtempSync(join(tmpdir(), 'questline-live-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const ENGINES = [SQLITE_FILE, ...(POSTGRES_URL === undefined ? [] : [POSTGRES])];

/** The reader's process. Workers are other processes, without a shared publisher. */
async function openReader(engine: OpenEngine, calls: string) {
  const address = { engine: engine.address, calls };
  writeFileSync(calls, '');
  const errors: unknown[] = [];
  const here = await openWorkspace(address, (error) => errors.push(error));
  const { services, api } = here;
  const user = await createUser(services, { email: 'ada@example.com', username: 'ada' });
  if (user === undefined) throw new Error('no user');
  const account = `user:${user.id}`;
  await services.ledger.grant({ account, amount: GRANT, key: 'start', reason: 'start' });
  const { key } = await issueApiKey(services, {
    userId: user.id,
    name: 'live',
    scopes: ['ai:chat', 'notebooks:read', 'notebooks:write'],
    requestsPerMinute: 1_000_000,
    requestsPerDay: 1_000_000,
  });
  const server = createServer(toNodeListener(api));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const quests = services.store.collection(QUESTS);
  return {
    url,
    key,
    errors,
    address,
    quests,
    async start(): Promise<string> {
      const response = await fetch(`${url}/api/chat`, {
        method: 'POST',
        headers: { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json' },
        body: JSON.stringify({ message: 'Write', newConversation: true }),
      });
      return ((await response.json()) as { id: string }).id;
    },
    countCalls: () => readFileSync(calls, 'utf8').split('\n').length - 1,
    async countCharges(): Promise<number> {
      const entries = await services.ledger.entries(account, { limit: 100 });
      return entries.filter(({ kind }) => kind === 'charge').length;
    },
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
      await api.close();
      await here.close();
    },
  };
}

describe.each(ENGINES)('events read from another process on $name', (kind) => {
  let engine: OpenEngine;
  let reader: Awaited<ReturnType<typeof openReader>>;
  const workers: ServerProcess[] = [];
  const startWorker = async (): Promise<ServerProcess> => {
    const worker = await startServerProcess(CHILD, reader.address);
    workers.push(worker);
    return worker;
  };
  beforeEach(async () => {
    engine = await kind.open();
    reader = await openReader(engine, join(folder, `calls ${Math.random()}`));
  }, TIMEOUT_MS);
  afterEach(async () => {
    for (const worker of workers.splice(0)) {
      if (worker.child.exitCode === null && worker.child.signalCode === null)
        await stopServerProcess(worker, 'SIGKILL');
    }
    await reader.close();
    await engine.close();
  }, TIMEOUT_MS);

  it(`give the exact text over ${CUTS} broken connections, with one provider call and one charge`, {
    timeout: TIMEOUT_MS,
  }, async () => {
    await startWorker();
    const id = await reader.start();
    const followed = await followWithCuts({
      url: `${reader.url}/api/v1/quests/${id}/events`,
      key: reader.key,
      random: createRandom(7),
      cuts: CUTS,
    });
    const quest = await reader.quests.get(id);
    expect(followed.cutConnections).toBe(CUTS);
    expect(quest?.text).toContain('149');
    expect(followed.text).toBe(quest?.text);
    expect(followed.end).toMatchObject({ status: 'done', type: 'message', reply: quest?.text });
    expect(followed.resets).toBe(0);
    expect(followed.ids.at(-1)).toBe('end');
    const sequences = followed.ids.slice(0, -1).map(Number);
    const [first = 0] = sequences;
    expect(sequences).toEqual(sequences.map((_, at) => first + at));
    expect(await reader.countCalls()).toBe(1);
    expect(await reader.countCharges()).toBe(1);
    expect(reader.errors).toEqual([]);
  });

  it('give the text that remains when the worker is killed meanwhile', { timeout: TIMEOUT_MS }, async () => {
    const worker = await startWorker();
    const id = await reader.start();
    const following = followWithCuts({
      url: `${reader.url}/api/v1/quests/${id}/events`,
      key: reader.key,
      random: createRandom(8),
      cuts: CUTS,
    });
    // With saved text the model is not called again.
    await vi.waitFor(async () => expect((await reader.quests.get(id))?.text ?? '').not.toBe(''), {
      timeout: TIMEOUT_MS / 2,
      interval: 20,
    });
    await stopServerProcess(worker, 'SIGKILL');
    await startWorker();
    const followed = await following;
    const quest = await reader.quests.get(id);
    expect(quest?.status).toBe('done');
    expect(followed.text).toBe(quest?.text);
    expect(followed.end).toMatchObject({ status: 'done', reply: quest?.text });
    expect(followed.ids.filter((one) => one === 'end')).toHaveLength(1);
    const sequences = followed.ids.slice(0, -1).map(Number);
    expect(sequences).toEqual([...new Set(sequences)].sort((a, b) => a - b));
    expect(await reader.countCalls()).toBe(1);
    expect(await reader.countCharges()).toBe(1);
  });

  it(`give ${READERS} readers the same text`, { timeout: TIMEOUT_MS }, async () => {
    await startWorker();
    const id = await reader.start();
    const all = await Promise.all(
      Array.from({ length: READERS }, (_, at) =>
        followWithCuts({
          url: `${reader.url}/api/v1/quests/${id}/events`,
          key: reader.key,
          random: createRandom(at),
          cuts: at % 4,
        }),
      ),
    );
    const quest = await reader.quests.get(id);
    expect(quest?.text).toContain('149');
    expect(new Set(all.map(({ text }) => text))).toEqual(new Set([quest?.text]));
    expect(await reader.countCalls()).toBe(1);
    expect(await reader.countCharges()).toBe(1);
  });
});
