import { connect } from 'node:net';
import { setImmediate as turn } from 'node:timers/promises';
import { createFakeClock } from '@questline/testing';
import { describe, expect, it, vi } from 'vitest';
import { createReadiness } from '../src/observability/readiness.ts';
import { questline, startLines } from './command.ts';

vi.setConfig({ testTimeout: 180_000 });

const never = (): Promise<never> => new Promise(() => undefined);

describe('readiness check', () => {
  it('includes every dependency that answers in time', async () => {
    const clock = createFakeClock();
    let aborted = false;
    const readiness = createReadiness(
      {
        store: async () => undefined,
        queue: async () => {
          throw new Error('postgres://me:hush@db.internal is away');
        },
        ledger: (signal) => {
          signal.addEventListener('abort', () => {
            aborted = true;
          });
          return never();
        },
      },
      clock,
    );
    const looked = readiness.check();
    await turn();
    await clock.advance(2000);
    const state = await looked;
    expect(state).toEqual({ status: 'unavailable', failing: ['queue', 'ledger'] });
    expect(aborted).toBe(true);
    expect(JSON.stringify(state)).not.toContain('hush');
    expect(clock.pending).toBe(0);
  });

  it('probes at most once a second, however many clients ask', async () => {
    const clock = createFakeClock();
    let asked = 0;
    const store = async (): Promise<void> => {
      asked += 1;
    };
    const readiness = createReadiness({ store }, clock);
    await Promise.all(Array.from({ length: 50 }, () => readiness.check()));
    expect(asked).toBe(1);
    await clock.advance(999);
    await readiness.check();
    expect(asked).toBe(1);
    await clock.advance(1);
    expect(await readiness.check()).toEqual({ status: 'ready', failing: [] });
    expect(asked).toBe(2);
  });
});

describe('GET /ready', () => {
  it('answers any client without a log line until shutdown begins', async () => {
    const running = questline(['start', '--demo', '--port', '0']);
    const { url } = await startLines(running);
    // The start prints its duration.
    expect(running.stdout()).toMatch(/^ {2}Ready after \d+\.\d s, using \d+ MiB of memory$/m);
    await running.until(/"readyMs":\d+,"memoryMiB":\d+,"msg":"started"/);
    const answer = await fetch(`${url}/ready`);
    expect(answer.status).toBe(200);
    expect(answer.headers.get('cache-control')).toBe('no-store');
    expect(await answer.json()).toEqual({ status: 'ready', failing: [] });
    const head = await fetch(`${url}/ready`, { method: 'HEAD' });
    expect([head.status, await head.text()]).toEqual([200, '']);
    expect((await fetch(`${url}/ready`, { method: 'POST' })).status).toBe(405);

    // A shutdown accepts no new connections, but answers a request that has begun.
    const socket = connect(Number(new URL(url).port), '127.0.0.1');
    await new Promise((resolve) => {
      socket.write('GET /ready HTTP/1.1\r\nHost: localhost\r\n', resolve);
    });
    const text = socket.setEncoding('utf8').toArray();
    // At the second answer the request has been read.
    for (let asked = 0; asked < 2; asked += 1) {
      await fetch(`${url}/api/ping`).then((ping) => ping.text());
    }
    running.signal('SIGTERM');
    await running.until(/"msg":"stopping"/);
    socket.write('\r\n');
    const late = (await text).join('');
    expect(late).toMatch(/^HTTP\/1\.1 503 /);
    expect(late).toMatch(/\r\nRetry-After: 5\r\n/);
    expect(late).toMatch(/\{"status":"draining",/);
    expect(await running.ended).toEqual({ code: 0, signal: null });
    const paths = running.output().match(/"method":"(\w+)","path":"\/ready"/g) ?? [];
    expect(paths).toEqual(['"method":"POST","path":"/ready"', '"method":"GET","path":"/ready"']);
  });
});
