import { join } from 'node:path';
import { createRandom } from '@questline/testing';
import { build } from 'esbuild';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { hasBrowser, openWindow, type Window } from '../../../packages/server/test/browser.ts';
import { type CuttingProxy, startCuttingProxy } from '../../support/cutting-proxy.ts';
import { followEvents } from '../../support/live-events.ts';
import { stopServerProcess } from '../../support/server-process.ts';
import { type Host, MEMORY, openHost, SHARED_ENGINES } from './host.ts';
import type { Report } from './page.ts';

/** Broken connections of each reader. `npm run soak:events` sets 1,000. */
const CUTS = Number(process.env.QUESTLINE_EVENT_CUTS ?? 100);
const TIMEOUT_MS = 600_000;
/** Connections break during the whole answer, and its end is too long for a connection that is cut. */
const ANSWER = { steps: 4 * CUTS, pauseMs: 5, padding: 20 };

let host: Host | undefined;
let window: Window | undefined;
let script = '';
const proxies: CuttingProxy[] = [];

beforeAll(async () => {
  if (!hasBrowser()) return;
  window = await openWindow({ width: 400, height: 300 });
  const entryPoints = [join(import.meta.dirname, 'page.ts')];
  const bundle = await build({ entryPoints, bundle: true, format: 'esm', platform: 'browser', write: false });
  script = bundle.outputFiles[0]?.text ?? '';
}, TIMEOUT_MS);
afterAll(() => window?.close(), TIMEOUT_MS);

afterEach(async () => {
  for (const proxy of proxies.splice(0)) await proxy.close();
  await host?.close();
  host = undefined;
}, TIMEOUT_MS);

async function startProxy({ port }: Host, seed: number, cuts = CUTS): Promise<CuttingProxy> {
  const proxy = await startCuttingProxy({ port, random: createRandom(seed), cuts });
  proxies.push(proxy);
  return proxy;
}

/** Calls a function of the page, through the proxy. */
async function runPage({ url }: CuttingProxy, call: string): Promise<Report> {
  if (window === undefined) throw new Error('no browser');
  await window.page.goto(url);
  await window.page.waitForFunction('globalThis.questline');
  return (await window.page.evaluate(`questline.${call}`)) as Report;
}

function getPath(id: string): string {
  return `/api/v1/quests/${id}/events`;
}

/** Checks what a reader has got of one answer against the record. */
async function expectWhole({ quests }: Host, id: string, followed: Report): Promise<void> {
  const quest = await quests.get(id);
  expect(quest).toMatchObject({ status: 'done', type: 'message' });
  expect(followed.text).toBe(quest?.text);
  expect(followed.end).toMatchObject({ status: 'done', type: 'message', reply: quest?.text });
  expect(followed.ids.filter((one) => one === 'end')).toHaveLength(1);
  const sequences = followed.ids.slice(0, -1).map(Number);
  const [first = 0] = sequences;
  expect(sequences).toEqual(sequences.map((_, at) => first + at));
}

async function expectOneCall({ countCalls, countCharges }: Host): Promise<void> {
  expect(countCalls()).toBe(1);
  expect(await countCharges()).toBe(1);
}

describe.each([MEMORY, ...SHARED_ENGINES])('events over broken connections on $name', (engine) => {
  it(`are the exact text after ${CUTS} cuts, with one provider call and one charge`, {
    timeout: TIMEOUT_MS,
  }, async () => {
    host = await openHost(engine, { answer: ANSWER });
    await host.startWorker();
    const proxy = await startProxy(host, 7);
    const id = await host.ask();
    const followed = await followEvents({ url: `${proxy.url}${getPath(id)}`, key: host.key });
    expect(proxy.cutConnections).toBe(CUTS);
    expect(followed.resets).toBe(0);
    expect(followed.text).toContain(`${ANSWER.steps - 1}`);
    await expectWhole(host, id, followed);
    await expectOneCall(host);
    expect(host.errors).toEqual([]);
  });
});

describe.runIf(hasBrowser())('events in Chromium over broken connections', () => {
  it.each([MEMORY, ...SHARED_ENGINES])(
    `are the exact text after ${CUTS} cuts on $name`,
    {
      timeout: TIMEOUT_MS,
    },
    async (engine) => {
      host = await openHost(engine, { answer: ANSWER, script });
      await host.startWorker();
      const proxy = await startProxy(host, 9);
      const id = await host.ask();
      const followed = await runPage(proxy, `read('${getPath(id)}', '${host.key}')`);
      expect(proxy.cutConnections).toBe(CUTS);
      expect(followed.resets).toBe(0);
      await expectWhole(host, id, followed);
      await expectOneCall(host);
    },
  );

  it('are the exact text for EventSource', { timeout: TIMEOUT_MS }, async () => {
    host = await openHost(MEMORY, { answer: { steps: 100, pauseMs: 10 }, script });
    await host.startWorker();
    const proxy = await startProxy(host, 10, 3);
    const id = await host.ask();
    await window?.page.context().addCookies([{ name: 'key', value: host.key, url: proxy.url }]);
    const followed = await runPage(proxy, `listen('${getPath(id)}')`);
    expect(proxy.cutConnections).toBe(3);
    await expectWhole(host, id, followed);
    await expectOneCall(host);
  });
});

describe.each(SHARED_ENGINES)('events of a worker that is killed on $name', (engine) => {
  it(`are the text that remains, in Node and Chromium, over ${CUTS} cuts each`, {
    timeout: TIMEOUT_MS,
  }, async () => {
    host = await openHost(engine, { answer: ANSWER, script });
    const { quests, startProcess } = host;
    const worker = await startProcess();
    const [proxy, other] = [await startProxy(host, 8), await startProxy(host, 11)];
    const id = await host.ask();
    const following = Promise.all([
      followEvents({ url: `${proxy.url}${getPath(id)}`, key: host.key }),
      ...(window === undefined ? [] : [runPage(other, `read('${getPath(id)}', '${host.key}')`)]),
    ]);
    // With saved text the model is not called again.
    await vi.waitFor(async () => expect((await quests.get(id))?.text ?? '').not.toBe(''), {
      timeout: TIMEOUT_MS / 2,
      interval: 20,
    });
    await stopServerProcess(worker, 'SIGKILL');
    await startProcess();
    for (const followed of await following) {
      const sequences = followed.ids.slice(0, -1).map(Number);
      expect(sequences).toEqual([...new Set(sequences)].sort((a, b) => a - b));
      expect(followed.text).toBe((await quests.get(id))?.text);
      expect(followed.end).toMatchObject({ status: 'done', reply: followed.text });
    }
    await expectOneCall(host);
  });
});
