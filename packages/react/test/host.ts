import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import {
  answered,
  createApi,
  createDemoProvider,
  createServices,
  createToolbox,
  createUser,
  defineTool,
  fromCredits,
  toNodeListener,
} from '@questline/core';
import { createMemoryPorts } from '@questline/core/memory';
import { createDemoMedia } from '@questline/demo-media';
import { build } from 'esbuild';
import type { Page } from 'playwright-core';
import { onTestFinished } from 'vitest';
import * as z from 'zod';
import { createScriptedProvider, type ModelCall } from '../../../test/support/model.ts';
import { openWindow, type Window } from '../../server/test/browser.ts';

/** Shows hooks in strict mode. Tests read `show()` and call the functions of `handle()`. */
const PAGE = `
import { Activity, createElement, StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { createClient } from '@questline/client';
import { QuestlineProvider, useConversation, useCredits, useGeneration, useQuest, useUpload } from '@questline/react';

const HOOKS = { useConversation, useCredits, useGeneration, useQuest, useUpload };
const current = {};
function Probe({ name, hook, args }) {
  const value = HOOKS[hook](...args);
  current[name] = value;
  return null;
}
const root = createRoot(document.getElementById('root'));
const shown = new Map();
const hidden = new Set();
const client = createClient({ credential: window.TOKEN });
const render = () => root.render(
  createElement(StrictMode, null, createElement(QuestlineProvider, { client },
    [...shown].map(([name, props]) => createElement(Activity,
      { key: name, mode: hidden.has(name) ? 'hidden' : 'visible' }, createElement(Probe, { name, ...props }))))));
window.mount = (name, hook, ...args) => { shown.set(name, { hook, args }); render(); };
window.unmount = (name) => { shown.delete(name); render(); };
window.hide = (name, isHidden) => { hidden[isHidden ? 'add' : 'delete'](name); render(); };
window.handle = (name) => current[name];
`;

export interface Host {
  readonly origin: string;
  readonly token: string;
  readonly calls: readonly ModelCall[];
  /** The requests of the page: method and path. */
  readonly requests: string[];
  countPosts(path: string): number;
  /** Breaks all connections off. */
  cut(): void;
  /** Open connections to live events. */
  countReaders(): number;
  /** The stored text of a quest. */
  getText(id: string): Promise<string | undefined>;
  getBalance(): Promise<{ readonly held: number; readonly posted: number }>;
}

let script: Promise<string> | undefined;

function bundlePage(): Promise<string> {
  script ??= build({
    stdin: { contents: PAGE, resolveDir: import.meta.dirname },
    bundle: true,
    format: 'esm',
    platform: 'browser',
    conditions: ['@questline/source'],
    define: { 'process.env.NODE_ENV': '"development"' },
    write: false,
  }).then(({ outputFiles }) => outputFiles[0]?.text ?? '');
  return script;
}

const lookUp = defineTool({
  id: 'look_up',
  description: 'Looks up a river.',
  input: z.object({ name: z.string() }),
  offered: 'requested',
  run: async ({ name }) => answered(`${name}: 6,650 km`, { type: 'river', payload: { name } }),
});

const sendMail = defineTool({
  id: 'send_mail',
  description: 'Sends a mail.',
  input: z.object({ to: z.string() }),
  offered: 'default',
  gated: true,
  run: ({ to }) => answered(`Sent to ${to}.`),
});

/** A server with a page and a signed-in user. The test answers for the model. */
export async function startHost(onCall?: (call: ModelCall) => void): Promise<Host> {
  const model = createScriptedProvider(onCall);
  const services = createServices(
    {
      ...createMemoryPorts(),
      models: [model, createDemoProvider({ media: createDemoMedia() })],
    },
    {
      tools: [createToolbox([lookUp, sendMail])],
      jwtSecret: 'a'.repeat(64),
      secretEncryptionKey: 'b'.repeat(64),
      admin: { DefaultAPIModel: 'scripted', enforceCredits: true },
    },
  );
  const api = createApi(services);
  await api.start();
  const user = await createUser(services, { email: 'ada@example.com', username: 'ada' });
  if (user === undefined) throw new Error('there is a user');
  const account = `user:${user.id}`;
  await services.ledger.grant({ account, amount: fromCredits(1000), key: 'start', reason: 'start' });
  const token = await services.tokens.sign({ id: user.id, tokenVersion: user.tokenVersion, typ: 'access' });
  const page = await bundlePage();
  const requests: string[] = [];
  let readers = 0;
  const listener = toNodeListener(api);
  const server = createServer((request, response) => {
    if (request.url === '/') {
      response.setHeader('content-type', 'text/html');
      response.end(
        `<!doctype html><link rel="icon" href="data:,"><div id="root"></div><script>window.TOKEN = '${token}'</script><script type="module" src="/page.js"></script>`,
      );
    } else if (request.url === '/page.js') {
      response.setHeader('content-type', 'text/javascript');
      response.end(page);
    } else {
      const path = request.url?.split('?')[0];
      requests.push(`${request.method} ${path}`);
      if (path?.endsWith('/events')) {
        readers += 1;
        response.once('close', () => {
          readers -= 1;
        });
      }
      listener(request, response);
    }
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(async () => {
    server.closeAllConnections();
    server.close();
    await api.close();
  });
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    origin,
    token,
    calls: model.calls,
    requests,
    countPosts: (path) => requests.filter((request) => request === `POST ${path}`).length,
    cut: () => server.closeAllConnections(),
    countReaders: () => readers,
    async getText(id) {
      const headers = { authorization: `Bearer ${token}` };
      const quest = await (await fetch(`${origin}/api/v1/quests/${id}`, { headers })).json();
      return (quest as { replies: string[] }).replies[0];
    },
    getBalance: () => services.ledger.balance(account),
  };
}

/** The page of a host in a browser. */
export interface Probe {
  readonly page: Page;
  /** Errors in the console of the page. */
  getComplaints(): readonly string[];
  mount(name: string, hook: string, ...args: unknown[]): Promise<void>;
  unmount(name: string): Promise<void>;
  /** Hides a component and keeps its state, or shows it again. */
  hide(name: string, isHidden: boolean): Promise<void>;
  /** Evaluates an expression with the value `it` of a hook, as JSON. */
  read<T>(name: string, expression: string): Promise<T>;
  /** Waits until an expression with `it` is true. */
  until(name: string, expression: string): Promise<void>;
  reload(): Promise<void>;
}

/** The window of all probes, one after the other. Opening it takes as long as a test; each host has its own origin. */
const shared: { window?: Promise<Window> } = {};

export async function openProbe(host: Host): Promise<Probe> {
  shared.window ??= openWindow({ width: 400, height: 300 });
  const { page, complaints } = await shared.window;
  const from = complaints.length;
  onTestFinished(async () => {
    await page.unrouteAll({ behavior: 'ignoreErrors' });
    await page.goto('about:blank');
  });
  const wait = async (): Promise<void> => void (await page.waitForFunction('window.mount'));
  await page.goto(host.origin);
  await wait();
  const call = (text: string): Promise<unknown> => page.evaluate(text);
  return {
    page,
    getComplaints: () => complaints.slice(from),
    mount: async (name, hook, ...args) => {
      await call(`mount(...${JSON.stringify([name, hook, ...args])})`);
      await page.waitForFunction(`handle(${JSON.stringify(name)})`);
    },
    unmount: async (name) => void (await call(`unmount(${JSON.stringify(name)})`)),
    hide: async (name, isHidden) => void (await call(`hide(${JSON.stringify(name)}, ${isHidden})`)),
    read: (name, expression) =>
      page.evaluate(`((it) => (${expression}))(handle(${JSON.stringify(name)}))`) as Promise<never>,
    until: async (name, expression) =>
      void (await page.waitForFunction(`((it) => (${expression}))(handle(${JSON.stringify(name)}))`)),
    async reload() {
      await page.reload();
      await wait();
    },
  };
}
