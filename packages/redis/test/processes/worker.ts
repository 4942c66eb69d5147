import { Redis } from 'ioredis';
import { createRedisLimiter } from '../../src/index.ts';
import type { Start, Task } from './protocol.ts';

/**
 * Runs in a separate process: takes in parallel as often as the parent requests, until its parent ends it.
 */
function serve({ url, prefix }: Start): void {
  const client = new Redis(url);
  // A busy machine is slow, not unavailable.
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
