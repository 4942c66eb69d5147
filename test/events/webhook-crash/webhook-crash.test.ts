import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { COLLECTIONS, createUser, toFetchHandler } from '@questline/core';
import { QUESTS, WEBHOOK_DELIVERIES } from '@questline/core/internal';
import { createWebhookSender } from '@questline/providers/web';
import { Webhook } from 'standardwebhooks';
import { describe, expect, it } from 'vitest';
import { migrate } from '../../../packages/sql/src/index.ts';
import { type Engine, POSTGRES, POSTGRES_URL, SQLITE_FILE } from '../../../packages/sql/test/engines.ts';
import { forkScript } from '../../support/children/fork.ts';
import type { Crash, CrashPoint, FastTime, Order } from './protocol.ts';
import { createFastClock, openWorkspace } from './workspace.ts';

const ENGINES: readonly Engine[] = [SQLITE_FILE, ...(POSTGRES_URL === undefined ? [] : [POSTGRES])];
const POINTS: readonly CrashPoint[] = ['after-commit', 'before-send', 'after-send'];
/** `npm run soak:webhooks` sets 1,000. */
const JOBS = Number(process.env.QUESTLINE_WEBHOOK_JOBS ?? 40);
/** Periodic tasks run faster too: many jobs need a clock that leaves the database time for them. */
const SPEED = JOBS > 100 ? 120 : 1200;
/** The receiver is down from its first request on, in accelerated time. */
const DOWN_MS = 10 * 60_000;

const CHILD = join(import.meta.dirname, 'webhooks.child.ts');

interface Received {
  readonly id: string;
  readonly body: string;
}

/** A receiver that rejects requests for ten minutes, and verifies all others. */
async function startReceiver(time: FastTime) {
  const clock = createFastClock(time);
  const received: Received[] = [];
  const wrong: string[] = [];
  let refused = 0;
  let upAt: number | undefined;
  let secret = '';
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const body = Buffer.concat(chunks).toString();
    const id = String(request.headers['webhook-id']);
    const at = new Date(Number(request.headers['webhook-timestamp']) * 1000);
    if (new Webhook(secret).sign(id, at, body) !== request.headers['webhook-signature']) wrong.push(id);
    upAt ??= clock.now() + DOWN_MS;
    const isDown = clock.now() < upAt;
    if (isDown) refused += 1;
    else received.push({ id, body });
    response.writeHead(isDown ? 503 : 204).end();
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    received,
    wrong,
    refused: () => refused,
    trust(text: string) {
      secret = text;
    },
    close() {
      server.closeAllConnections();
      server.close();
    },
  };
}

/** @returns the signal that ended the process. */
async function runChild(order: Order, errors: string[]): Promise<NodeJS.Signals | null> {
  const child = forkScript(CHILD);
  child.on('message', ({ error }: { error: string }) => errors.push(error));
  child.send(order);
  const [, signal] = (await once(child, 'exit')) as [number | null, NodeJS.Signals | null];
  return signal;
}

describe.each(ENGINES)('webhooks on $name', (engine) => {
  it(`receive ${JOBS} ended jobs at least once with one id each, although processes are killed, the receiver is down for 10 minutes and another one never answers`, {
    timeout: 900_000,
  }, async () => {
    const { database, address, close } = await engine.open();
    await migrate(database, { collections: COLLECTIONS });
    const time = { epoch: Date.UTC(2026, 10, 22, 12), since: Date.now(), speed: SPEED };
    const receiver = await startReceiver(time);
    const errors: string[] = [];
    const here = openWorkspace(
      { address, time },
      {
        sender: createWebhookSender({ isAllowedAddress: () => true }),
        onError: (error) => errors.push(String(error)),
      },
    );
    const { store, tokens } = here.services;
    const user = await createUser(here.services, { email: 'ada@example.com', username: 'ada' });
    if (user === undefined) throw new Error('no user');
    const token = await tokens.sign({ id: user.id, tokenVersion: 0, typ: 'access' });
    const create = async (url: string): Promise<{ id: string; secret: string }> => {
      const answer = await toFetchHandler(here.api)(
        new Request('http://questline.test/api/webhooks', {
          method: 'POST',
          headers: { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' },
          body: JSON.stringify({ url, types: ['quest.done'] }),
        }),
      );
      expect(answer?.status).toBe(201);
      return answer?.json() as Promise<{ id: string; secret: string }>;
    };
    // Created first, so that its deliveries are due before those of the other.
    const slow = await create(`${receiver.url}/slow`);
    const fast = await create(`${receiver.url}/fast`);
    receiver.trust(fast.secret);

    const jobs = Math.ceil(JOBS / (POINTS.length + 1));
    const order = { address, time, userId: user.id, webhookId: fast.id, jobs };
    const count = Math.ceil(jobs / 2);
    for (const point of POINTS) {
      const crash: Crash = { point, count };
      expect([point, await runChild({ ...order, crash }, errors)]).toEqual([point, 'SIGKILL']);
    }
    const rest = JOBS - (await store.collection(QUESTS).count({ status: 'done' }));
    expect(await runChild({ ...order, jobs: Math.max(rest, 1) }, errors)).toBe(null);
    expect(errors).toEqual([]);

    const done: string[] = [];
    for (let offset = 0; ; offset += 1000) {
      const page = await store.collection(QUESTS).find({ status: 'done' }, { offset, limit: 1000 });
      done.push(...page.map(({ id }) => id));
      if (page.length < 1000) break;
    }
    expect(done.length).toBeGreaterThanOrEqual(JOBS);
    const ids = new Map<string, Set<string>>();
    for (const { id, body } of receiver.received) {
      const { type, data } = JSON.parse(body) as { type: string; data: { id: string } };
      expect(type).toBe('quest.done');
      ids.set(data.id, (ids.get(data.id) ?? new Set()).add(id));
    }
    expect([...ids.keys()].sort()).toEqual(done.sort());
    expect([...ids.values()].filter((all) => all.size > 1)).toEqual([]);
    expect(new Set([...ids.values()].flatMap((all) => [...all])).size).toBe(done.length);
    expect(receiver.wrong).toEqual([]);
    expect(receiver.refused()).toBeGreaterThan(0);
    // All deliveries arrived while most requests to the other receiver were pending before them.
    const waiting = await store
      .collection(WEBHOOK_DELIVERIES)
      .count({ webhookId: slow.id, status: 'pending' });
    expect(waiting).toBe(done.length);
    console.info(
      `${engine.name}: ${done.length} jobs, ${POINTS.length} kills, ${receiver.refused()} requests refused, ` +
        `${receiver.received.length - done.length} received twice, 0 lost`,
    );
    receiver.close();
    await here.api.close();
    await here.close();
    await close();
  });
});
