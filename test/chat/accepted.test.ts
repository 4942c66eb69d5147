import { setImmediate as turn } from 'node:timers/promises';
import { COLLECTIONS } from '@questline/core';
import type { JobQueue } from '@questline/core/ports';
import { createSqlPorts, migrate } from '@questline/sql';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ENGINES, type OpenEngine } from '../../packages/sql/test/engines.ts';
import { createChatApp, sayAtOnce } from '../support/chat.ts';
import type { ModelCall } from '../support/model.ts';

const LEASE_MS = 60_000;

const [MEMORY, SERVER] = [ENGINES.at(0), ENGINES.at(-1)];

describe.each([MEMORY, SERVER].filter((engine) => engine !== undefined))('a turn on $name', (kind) => {
  let engine: OpenEngine;
  beforeEach(async () => {
    engine = await kind.open();
    await migrate(engine.database, { collections: COLLECTIONS });
  }, 120_000);
  afterEach(() => engine?.close());

  /** An app of one worker whose looks are counted. @param wrap changes its queue. */
  const open = async (
    onCall: (call: ModelCall, number: number) => void,
    wrap: (queue: JobQueue) => Partial<JobQueue> = () => ({}),
    concurrency = 50,
  ) => {
    let calls = 0;
    let looks = 0;
    let running = 0;
    const app = await createChatApp({
      onCall: (call) => onCall(call, ++calls),
      settings: { worker: { leaseMs: LEASE_MS, pollMs: 3_000_000, concurrency: { chat: concurrency } } },
      ports(given) {
        const ports = createSqlPorts(engine.database, given);
        const { queue } = ports;
        const lease: JobQueue['lease'] = (want, options) => {
          looks += 1;
          running += 1;
          return queue.lease(want, options).finally(() => {
            running -= 1;
          });
        };
        return { ...ports, queue: { ...queue, lease, ...wrap(queue) } };
      },
    });
    const until = async (isSo: () => Promise<boolean> | boolean) => {
      while (!(await isSo())) await turn();
    };
    await until(() => looks > 0);
    // The worker has looked until it found no job.
    for (let quiet = 0; quiet < 50; quiet = running === 0 ? quiet + 1 : 0) await turn();
    const hasStatus = (id: string, status: string) =>
      until(async () => (await app.poll(id)).status === status);
    const send = async (body: object) => (await app.chat(body)).body;
    return { ...app, send, until, hasStatus, getLooks: () => looks };
  };
  const said = ({ request }: ModelCall) =>
    request.messages.flatMap(({ role, content }) =>
      role === 'system' ? [] : [`${role}: ${/First|One|Second/.exec(JSON.stringify(content))?.[0]}`],
    );

  it('begins with its acceptance: no worker looks for its job', async () => {
    const { api, send, hasStatus, getLooks, services } = await open(sayAtOnce('Hello.'));
    const before = getLooks();
    const { id } = await send({ message: 'Hi' });
    await hasStatus(id, 'done');
    expect(getLooks()).toBe(before);
    expect(await services.queue.counts()).toMatchObject({ ready: 0, leased: 0 });
    await api.close();
  });

  it('waits while the worker has no free slot, and then knows the messages that came meanwhile', async () => {
    const opened: ModelCall[] = [];
    const app = await open((call) => opened.push(call), undefined, 1);
    const first = await app.send({ message: 'First' });
    await app.until(() => opened.length === 1);
    const second = await app.send({ message: 'Second', sessionId: first.sessionId });
    expect(await app.services.queue.counts()).toMatchObject({ ready: 1, leased: 1 });
    const [answering] = opened;
    if (answering !== undefined) sayAtOnce('One.')(answering);
    await app.until(() => opened.length === 2);
    const [, next] = opened;
    if (next === undefined) throw new Error('no second call');
    expect(said(next)).toEqual(['user: First', 'assistant: One', 'user: Second']);
    sayAtOnce('Two.')(next);
    await app.hasStatus(second.id, 'done');
    await app.api.close();
  });

  it('goes on under another lease when its worker has lost the first one, and is charged once', async () => {
    const app = await open(
      (call, number) => {
        if (number > 1) sayAtOnce('Hello.')(call);
      },
      (queue) => ({ renew: async (job, ...rest) => job.fence > 1 && queue.renew(job, ...rest) }),
    );
    const { posted: before } = await app.ledger.balance(app.account);
    const { id } = await app.send({ message: 'Hi' });
    await app.until(() => app.calls.length === 1);
    await app.clock.advance(LEASE_MS);
    await app.until(async () => {
      await app.clock.advance(1000);
      return (await app.poll(id)).status === 'done';
    });
    expect(app.calls).toHaveLength(2);
    const { posted, held } = await app.ledger.balance(app.account);
    expect([before - posted > 0, held]).toEqual([true, 0]);
    expect(
      (await app.ledger.charges({ account: app.account }, 9)).filter(({ amount }) => amount > 0),
    ).toHaveLength(1);
    await app.api.close();
  });
});
