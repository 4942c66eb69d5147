import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { createApi, createDemoProvider, createServices } from '@questline/core';
import { createMemoryPorts } from '@questline/core/memory';
import type { Clock } from '@questline/core/ports';
import { createFakeClock } from '@questline/testing';
import { describe, expect, it } from 'vitest';
import { type ChatAppOptions, createChatApp, silent } from '../support/chat.ts';

const SECRET = 'a'.repeat(64);
/** Runs a program until it exits. @returns its output. */
async function run(file: string, ...given: string[]): Promise<string> {
  const flags = ['--conditions=@questline/source', '--disable-warning=ExperimentalWarning'];
  const child = join(import.meta.dirname, file);
  return (await promisify(execFile)(process.execPath, [...flags, child, ...given])).stdout;
}
const mounted = (options: ChatAppOptions = {}) => createChatApp({ ...options, started: false, worker: true });

describe('api that is mounted and never started', () => {
  it('answers the first chat without a model with the first provider', async () => {
    const app = await mounted({ models: [createDemoProvider()], settings: { admin: {} } });
    const { status, body } = await app.chat({ message: 'Hello', wait: true });
    expect([status, body.status, body.model]).toEqual([200, 'done', 'demo-chat']);
    expect(body.response).toContain('Hello');
    await app.api.close();
  });

  it('runs accepted work of every kind, such as a file check', async () => {
    const app = await mounted({ key: { scopes: ['files:write'] } });
    const { body: file } = await app.json('POST', '/api/v1/files', {
      body: { file_name: 'a.txt', mime_type: 'text/plain', file_size: 5 },
    });
    const { pathname, search } = new URL(file.upload_url, 'http://questline.test');
    await app.ask('PUT', pathname + search, {
      credential: null,
      headers: { 'Content-Type': 'text/plain' },
      body: 'hello',
    });
    await app.settle();
    expect((await app.json('GET', `/api/v1/files/${file.id}`)).body.moderation_status).toBe('clean');
    await app.api.close();
  });

  it('has no timer and no listener before the first accepted job, and none after its end', async () => {
    const timers = new Set<object>();
    const fake = createFakeClock();
    const clock: Clock = {
      now: fake.now,
      timer(delay, callback) {
        const timer = {};
        timers.add(timer);
        const cancel = fake.timer(delay, () => {
          timers.delete(timer);
          callback();
        });
        return () => {
          timers.delete(timer);
          cancel();
        };
      },
    };
    let listeners = 0;
    const ports = createMemoryPorts({ clock });
    const { onReady } = ports.queue;
    const queue = {
      ...ports.queue,
      onReady: (listener: () => void) => {
        listeners += 1;
        const end = onReady(listener);
        return () => {
          listeners -= 1;
          end();
        };
      },
    };
    const services = createServices(
      { ...ports, queue, models: [createDemoProvider()] },
      { jwtSecret: SECRET },
    );
    const api = createApi(services);
    expect([timers.size, listeners]).toEqual([0, 0]);
    await services.queue.enqueue({ kind: 'unknown', payload: {}, key: 'one' });
    expect(listeners).toBe(1);
    expect(timers.size).toBeGreaterThan(0);
    await api.drain();
    await api.close();
    expect([timers.size, listeners]).toEqual([0, 0]);
  });

  it('runs no work after drain until it is started', async () => {
    const app = await mounted();
    await app.api.drain();
    const { queue } = app.services;
    await queue.enqueue({ kind: 'chat', payload: {}, key: 'late' });
    await app.settle();
    expect(await queue.counts()).toMatchObject({ ready: 1, leased: 0 });
    await app.api.start();
    const { status } = await app.chat({ message: 'Hi', wait: true });
    expect(status).toBe(200);
    await app.api.close();
  });

  it('lets an idle process exit', async () => {
    expect(await run('idle.child.ts')).toBe('done\n');
  });

  it.each([
    ['drains', 'drain', 'done\nclosed\n'],
    ['forgets a user', 'forget', 'true\n'],
  ])('keeps a process alive that %s while work waits', async (_title, call, output) => {
    expect(await run('waiting.child.ts', call)).toBe(output);
  });
});

describe('api with `worker: false`', () => {
  it('leaves accepted work to another process', async () => {
    const app = await createChatApp({ started: false });
    const { body } = await app.chat({ message: 'Hi' });
    await app.settle();
    expect(await app.poll(body.id)).toMatchObject({ status: 'pending' });
    const other = createApi(app.services, { worker: false });
    await other.start();
    await app.settle();
    expect(await app.poll(body.id)).toMatchObject({ status: 'done' });
    await other.close();
  });

  it('reports jobs without a worker once', async () => {
    const app = await createChatApp({ started: false });
    await app.chat({ message: 'Hi' });
    await app.clock.advance(9999);
    await app.settle();
    expect(app.incidents).toEqual([]);
    await app.clock.advance(1);
    await app.settle();
    const report = {
      operation: 'worker',
      requestId: '',
      error: expect.objectContaining({ message: expect.stringContaining('no worker runs them') }),
    };
    expect(app.incidents).toEqual([report]);
    await app.chat({ message: 'Hi again' });
    await app.clock.advance(600_000);
    await app.settle();
    expect(app.incidents).toEqual([report]);
  });

  it('reports nothing while another process runs jobs', async () => {
    const app = await createChatApp({ started: false });
    const { queue } = app.services;
    await app.chat({ message: 'Hi' });
    await app.chat({ message: 'Hi' });
    await queue.lease({ kinds: ['chat'], limit: 1, leaseMs: 600_000 });
    await app.clock.advance(60_000);
    await app.settle();
    expect(app.incidents).toEqual([]);
  });

  it('reports in the 504 of a waiting client that no worker runs', async () => {
    const app = await createChatApp({ started: false });
    const waiting = app.chat({ message: 'Hi', wait: true });
    await app.settle();
    await app.clock.advance(60_000);
    expect(await waiting).toMatchObject({
      status: 504,
      body: {
        error:
          'The reply was not ready in time: the server has accepted the message, and no worker runs that could ' +
          'answer it. Poll the quest for it.',
        errorCode: 'request_timeout',
      },
    });
  });

  it('does not mention workers when a running one is slow', async () => {
    const app = await createChatApp({ onCall: silent });
    const waiting = app.chat({ message: 'Hi', wait: true });
    await app.settle();
    await app.clock.advance(60_000);
    expect((await waiting).body.error).toBe('The reply was not ready in time. Poll the quest for it.');
    await app.api.close();
  });
});
