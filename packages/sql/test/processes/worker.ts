import { createIds, createSystemClock } from '@questline/core/memory';
import { createSqlPorts } from '../../src/index.ts';
import { connect } from '../connect.ts';
import { type Answer, CEILING, SLOTS, type Start, type Task } from './protocol.ts';

/** Runs in a separate process: performs the tasks of the parent, until its parent ends it. */
function serve({ address }: Start): void {
  const { database, close } = connect(address);
  const clock = createSystemClock();
  const ids = createIds({ clock });
  const { store, ledger, limiter, queue } = createSqlPorts(database, { clock, ids });
  const slots = store.collection(SLOTS);

  const call: Readonly<Record<Task['kind'], (task: Task, at: number) => Promise<number>>> = {
    async hold({ round, process }, at) {
      const { outcome } = await ledger.hold({
        account: `user:${round}`,
        amount: 1,
        key: `${round} ${process} ${at}`,
        expiresAt: clock.now() + 600_000,
        details: { operation: 'test' },
      });
      return outcome === 'held' ? 1 : 0;
    },
    async take({ round }) {
      const windows = [
        { name: 'minute', limit: CEILING, lengthMs: 600_000 },
        { name: 'day', limit: 1000, lengthMs: 86_400_000 },
      ];
      return (await limiter.take(`key:${round}`, windows, clock.now())).allowed ? 1 : 0;
    },
    async insert({ round }) {
      return (await slots.insert({ id: ids.next(), name: round })) ? 1 : 0;
    },
    async lease({ round }) {
      const jobs = await queue.lease({ kinds: [round], limit: 3, leaseMs: 600_000 });
      for (const job of jobs) await queue.finish(job);
      return jobs.length;
    },
  };

  process.on('message', async (task: Task | 'end') => {
    if (task === 'end') {
      await close();
      process.disconnect();
      return;
    }
    const passed = await Promise.all(
      Array.from({ length: task.calls }, (_, at) => call[task.kind](task, at)),
    );
    const answer: Answer = { passed: passed.reduce((sum, one) => sum + one, 0) };
    process.send?.(answer);
  });
  process.send?.('ready');
}

process.once('message', serve);
