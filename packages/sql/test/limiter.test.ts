import { createFakeClock, fakeTime, limiterSuite, realTime } from '@questline/testing';
import { describe, expect, it } from 'vitest';
import { createSqlLimiter } from '../src/index.ts';
import { ENGINES } from './engines.ts';
import { shareDatabase } from './shared.ts';

describe.each(ENGINES)('$name', (engine) => {
  const shared = shareDatabase(engine);

  limiterSuite({
    name: engine.name,
    create: async () => ({
      limiter: createSqlLimiter(await shared.fresh()),
      peers: [createSqlLimiter(shared.peer())],
      time: fakeTime(createFakeClock()),
    }),
  });

  it('removes keys whose windows have ended, and only those', async () => {
    const limiter = createSqlLimiter(await shared.fresh());
    const minute = { name: 'minute', limit: 5, lengthMs: 60_000 };
    const day = { name: 'day', limit: 5, lengthMs: 86_400_000 };
    for (let at = 0; at < 1200; at += 1) await limiter.take(`idle ${at}`, [minute], 1000);
    await limiter.take('busy', [minute, day], 1000);
    await limiter.take('busy', [minute], 1000);

    expect(await limiter.sweep(70_000)).toBe(1200);
    expect(await limiter.peek('busy', [minute, day], 70_000)).toMatchObject([
      { remaining: 5 },
      { remaining: 4 },
    ]);
  });

  it.runIf(engine.name.startsWith('P'))('can use the time of the database', async () => {
    const limiter = createSqlLimiter(await shared.fresh(), { time: 'database' });
    const windows = [{ name: 'minute', limit: 1, lengthMs: 60_000 }];
    const ahead = Date.now() + 10 * 86_400_000;

    expect((await limiter.take('key', windows, 0)).allowed).toBe(true);
    const refused = await limiter.take('key', windows, ahead);

    expect(refused.allowed).toBe(false);
    expect(refused.refusedBy?.resetAt).toBeLessThan(ahead);
    expect(realTime().now()).toBeLessThan(refused.refusedBy?.resetAt ?? 0);
  });
});
