import { isStorageUnavailable } from '@questline/core/ports';
import { describe, expect, it, vi } from 'vitest';
import { REDIS_URL } from '../../../test/support/redis-server.ts';
import { LEASE_MS, shareConnection } from './opened.ts';

const ADA = { owner: 'ada' };

describe.skipIf(REDIS_URL === undefined)('a call to BullMQ whose command fails', () => {
  const open = shareConnection();
  type Opened = ReturnType<typeof open>;
  /** Prepares a call. */
  type Prepare = (opened: Opened) => Promise<() => Promise<unknown>>;

  /** Makes a call during which the command with this number fails. */
  const call = async (prepare: Prepare, failing = 0) => {
    const opened = open();
    const { connection } = opened;
    const start = await prepare(opened);
    const send = connection.sendCommand.bind(connection);
    let sent = 0;
    const spy = vi.spyOn(connection, 'sendCommand').mockImplementation((...args) => {
      sent += 1;
      return sent === failing ? Promise.reject(new Error('broken')) : send(...args);
    });
    try {
      const [answer] = await Promise.allSettled([start()]);
      return { opened, answer, sent };
    } finally {
      spy.mockRestore();
    }
  };

  /** Redis knows the scripts of a call that was made before. */
  const warmUp = (prepare: Prepare) => call(prepare);

  const leased =
    (work: (opened: Opened, job: Awaited<ReturnType<Opened['mustLease']>>) => Promise<unknown>): Prepare =>
    async (opened) => {
      await opened.add('one', ADA);
      const job = await opened.mustLease();
      return () => work(opened, job);
    };
  const enqueue: Prepare = async ({ connection, add }) => {
    await connection.ping();
    return () => add('one', ADA);
  };
  const leaseNothing: Prepare =
    async ({ lease: take }) =>
    () =>
      take(1);
  const countOne: Prepare = async ({ queue, add, mustLease }) => {
    await add('one');
    await mustLease();
    return () => queue.counts();
  };
  const lease: Prepare = async ({ add, mustLease }) => {
    await add('one', ADA);
    return () => mustLease();
  };

  it.each<[string, number, Prepare]>([
    ['enqueue', 4, enqueue],
    ['lease', 5, lease],
    ['lease without a job', 6, leaseNothing],
    ['counts', 7, countOne],
    ['renew', 2, leased(({ queue }, job) => queue.renew(job, LEASE_MS))],
    ['finish', 1, leased(({ queue }, job) => queue.finish(job))],
    ['retry', 2, leased(({ queue }, job) => queue.retry(job, { runAt: Date.now(), countAttempt: true }))],
  ])('rejects, whichever it is: %s', async (_, commands, prepare) => {
    await warmUp(prepare);
    for (let failing = 1; failing <= commands; failing += 1) {
      const { answer } = await call(prepare, failing);
      expect(answer.status === 'rejected' && isStorageUnavailable(answer.reason)).toBe(true);
    }
    expect(await call(prepare)).toMatchObject({ answer: { status: 'fulfilled' }, sent: commands });
  });

  it('leaves no job behind that is never looked for', async () => {
    await warmUp(enqueue);
    const added: number[] = [];
    for (const failing of [1, 2, 3, 4]) {
      const { connection, prefix, toKey } = (await call(enqueue, failing)).opened;
      if ((await connection.exists(toKey('ada', 'de:one'))) === 0) continue;
      added.push(failing);
      expect(await connection.zscore(`${prefix}:questline:lanes:work`, '@ada')).not.toBeNull();
    }
    expect(added).toEqual([4]);
  });
});
