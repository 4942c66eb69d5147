import { Redis } from 'ioredis';
import { createRedisLimiter } from '../../src/index.ts';
import type { Start, Task } from './protocol.ts';

/** Runs in a process of its own: takes as often as the parent says, all at once, until it is told to end. */
function serve({ url, prefix }: Start): void {
  const client = new Redis(url);
  // A machine under load is slow, not away.
  const limiter = createRedisLimiter({ client, prefix, timeoutMs: 20_000 });

  process.on('message', async (task: Task | 'end') => {
    if (task === 'end') {
      await client.quit();
      process.disconnect();
      return;
    }
    const decisions = await Promise.all(
      Array.from({ length: task.takes }, () => limiter.take(task.key, task.windows, Date.now())),
    );
    process.send?.(decisions.filter(({ allowed }) => allowed).length);
  });
  process.send?.('ready');
}

process.once('message', serve);
