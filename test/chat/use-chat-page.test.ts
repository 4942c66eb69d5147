import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createApi, createServices, type Incident } from '@questline/core';
import { createMemoryPorts, createSystemClock } from '@questline/core/memory';
import type { ModelPart } from '@questline/core/ports';
import { toExpress } from '@questline/express';
import compression from 'compression';
import express from 'express';
import type { Page } from 'playwright-core';
import { build } from 'vite';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { hasBrowser, openWindow } from '../../packages/server/test/browser.ts';
import { answerParts } from '../support/chat.ts';
import { createScriptedProvider, type ModelCall } from '../support/model.ts';

vi.setConfig({ testTimeout: 300_000 });

const say = (text: string): ModelPart => ({ type: 'text', text });
const USAGE: ModelPart = { type: 'usage', usage: { input: 10, output: 2 } };

/** An Express host with compression, one user and the built page. */
async function startHost() {
  const pages = await mkdtemp(join(tmpdir(), 'questline-use-chat-'));
  onTestFinished(() => rm(pages, { recursive: true }));
  await build({
    root: join(import.meta.dirname, 'use-chat-page'),
    logLevel: 'error',
    build: { outDir: pages, emptyOutDir: true, target: 'es2022' },
  });
  const model = createScriptedProvider();
  const incidents: Incident[] = [];
  const clock = createSystemClock();
  const services = createServices(
    {
      ...createMemoryPorts({ clock }),
      clock,
      models: [model],
      identity: { identify: async () => ({ externalId: 'ada' }), credential: () => 'ada' },
    },
    {
      jwtSecret: 'a'.repeat(64),
      admin: { defaultFreeCredits: 100, DefaultAPIModel: 'scripted', enforceCredits: true },
      onError: (incident) => incidents.push(incident),
    },
  );
  const api = createApi(services);
  onTestFinished(() => api.close());
  const app = express();
  app.use(compression({ threshold: 0 }), toExpress(api), express.static(pages));
  const server = createServer(app);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return { origin, calls: model.calls, incidents, cut: () => server.closeAllConnections() };
}

/** The call with this number, from 1, once the model has received it. */
const getCall = (calls: readonly ModelCall[], number: number): Promise<ModelCall> =>
  vi.waitFor(
    () => {
      const call = calls[number - 1];
      if (call === undefined) throw new Error(`no call ${number}`);
      return call;
    },
    { timeout: 60_000 },
  );

function finish(call: ModelCall, text: string): void {
  call.say(...answerParts(text));
  call.end();
}

const click = (page: Page, name: string) => page.getByRole('button', { name, exact: true }).click();

async function enter(page: Page, text: string, button = 'Send'): Promise<void> {
  await page.getByLabel('Message').fill(text);
  await click(page, button);
}

const waitForStatus = (page: Page, status: string) => page.waitForSelector(`main[data-status=${status}]`);

/** Waits until the last answer of the page has this text. */
const waitForAnswer = (page: Page, text: string) =>
  page.waitForFunction(
    `(() => {
      const last = [...document.querySelectorAll('section')].at(-1);
      const said = [...(last?.querySelectorAll('p') ?? [])].map((part) => part.textContent).join('');
      return last?.className === 'assistant' && said === ${JSON.stringify(text)};
    })()`,
  );

const readTexts = (page: Page): Promise<string[]> =>
  page.evaluate(
    `[...document.querySelectorAll('section')].map((one) =>
      [...one.querySelectorAll('p')].map((part) => part.textContent).join(''))`,
  );

/** The texts of the stored messages. */
const readStored = (page: Page): Promise<string[]> =>
  page.evaluate(
    `fetch('/api/chat/journey/messages?limit=100').then((answer) => answer.json()).then(({ data }) =>
      data.map(({ parts }) => parts.map(({ type, text }) => (type === 'text' ? text : '')).join('')))`,
  );

describe.skipIf(!hasBrowser())('a page with useChat in Chromium', () => {
  it('sends, shows tools, resumes, stops, regenerates, edits, survives two tabs and an outage', async () => {
    const { origin, calls, incidents, cut } = await startHost();
    const window = await openWindow({ width: 800, height: 600 });
    onTestFinished(() => window.close());
    const { page } = window;
    const expected: string[] = [];
    const expectTexts = async () => {
      expect(await readTexts(page)).toEqual(expected);
      expect(await readStored(page)).toEqual(expected);
    };
    await page.goto(origin);

    await enter(page, 'Roll');
    const roll = await getCall(calls, 1);
    roll.say({ type: 'tool_use', id: 'a', name: 'dice_roll', arguments: '{"sides":6}' }, USAGE);
    roll.end();
    finish(await getCall(calls, 2), 'Four.');
    await page.waitForSelector('.assistant code:has-text("dice_roll: output-available")');
    await waitForAnswer(page, 'Four.');
    await waitForStatus(page, 'ready');
    expected.push('Roll', 'Four.');
    await expectTexts();

    // The stream shows the first words while the model is silent, through the compression of the host.
    await enter(page, 'Rivers');
    const rivers = await getCall(calls, 3);
    rivers.say(say('Nile, '));
    await waitForAnswer(page, 'Nile, ');
    await page.reload();
    await waitForAnswer(page, 'Nile, ');
    finish(rivers, 'Amazon.');
    await waitForAnswer(page, 'Nile, Amazon.');
    await waitForStatus(page, 'ready');
    expected.push('Rivers', 'Nile, Amazon.');
    await expectTexts();
    expect(calls).toHaveLength(3);

    await enter(page, 'Lakes');
    const lakes = await getCall(calls, 4);
    lakes.say(say('Baikal'));
    await waitForAnswer(page, 'Baikal');
    await click(page, 'Stop');
    await lakes.whenStopped;
    await waitForStatus(page, 'ready');
    await click(page, 'Regenerate');
    finish(await getCall(calls, 5), 'Ladoga.');
    await waitForAnswer(page, 'Ladoga.');
    await waitForStatus(page, 'ready');
    expected.push('Lakes', 'Ladoga.');
    await expectTexts();

    await enter(page, 'Seas', 'Edit');
    finish(await getCall(calls, 6), 'Baltic.');
    await waitForAnswer(page, 'Baltic.');
    await waitForStatus(page, 'ready');
    expected.splice(-2, 2, 'Seas', 'Baltic.');
    await expectTexts();
    expect(JSON.stringify(calls[5]?.request.messages)).not.toContain('Lakes');

    const opening = page.waitForEvent('popup');
    await page.evaluate(`void open(location.href)`);
    const other = await opening;
    await waitForAnswer(other, 'Baltic.');
    await enter(page, 'First');
    const first = await getCall(calls, 7);
    first.say(say('One, '));
    await waitForAnswer(page, 'One, ');
    await enter(other, 'Second');
    await other.getByRole('alert').getByText('still being written').waitFor();
    finish(first, 'two.');
    await waitForAnswer(page, 'One, two.');
    await waitForStatus(page, 'ready');
    expected.push('First', 'One, two.');
    await expectTexts();
    await other.reload();
    await waitForAnswer(other, 'One, two.');
    expect(await readTexts(other)).toEqual(expected);
    await other.close();

    // The network is gone while the model goes on.
    await enter(page, 'Mountains');
    const mountains = await getCall(calls, 8);
    mountains.say(say('Etna, '));
    await waitForAnswer(page, 'Etna, ');
    await page.context().setOffline(true);
    cut();
    await waitForStatus(page, 'error');
    mountains.say(say('Fuji, '));
    await page.context().setOffline(false);
    await waitForAnswer(page, 'Etna, Fuji, ');
    finish(mountains, 'Elbrus.');
    await waitForAnswer(page, 'Etna, Fuji, Elbrus.');
    await waitForStatus(page, 'ready');
    expected.push('Mountains', 'Etna, Fuji, Elbrus.');
    await expectTexts();

    expect(calls).toHaveLength(8);
    expect(incidents).toEqual([]);
    // The refused message, and what was asked without a network.
    expect(window.complaints.filter((text) => !/409|ERR_/.test(text))).toEqual([]);
  });
});
