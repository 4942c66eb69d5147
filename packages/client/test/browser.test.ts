import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import {
  createApi,
  createDemoProvider,
  createServices,
  createUser,
  fromCredits,
  toNodeListener,
} from '@questline/core';
import { createMemoryPorts } from '@questline/core/memory';
import { build } from 'esbuild';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { hasBrowser, openWindow } from '../../server/test/browser.ts';

vi.setConfig({ testTimeout: 300_000, hookTimeout: 300_000 });

/** What the page does, with everything that only a browser has: relative addresses, XMLHttpRequest, its own `fetch`. */
const PAGE = `
import { chat, collect, complete, createClient, createTokens, entries, QuestlineError, upload } from '@questline/client';
import * as operations from '@questline/client/operations';

const journey = async (tokens) => {
  const client = createClient({
    credential: createTokens({ load: () => tokens, save: (next) => { tokens = next; } }),
    operations,
  });
  const me = await client.getMe();
  const turn = await chat(client, { message: 'Hello', newConversation: true });
  const { reply } = await turn.result();
  const { text } = await collect(complete(client, { model: 'demo-echo', messages: [{ role: 'user', content: 'One two' }] }));
  const seen = [];
  const file = new File(['x'.repeat(2_000_000)], 'a.txt', { type: 'text/plain' });
  const stored = await upload(client, file, { onProgress: (step) => seen.push(step) });
  const names = [];
  for await (const { file_name } of entries(client, operations.listFiles)) names.push(file_name);
  const controller = new AbortController();
  const late = client.listSessions({}, { signal: controller.signal });
  controller.abort();
  const aborted = await late.catch((error) => error.name);
  const failed = await client.getFile({ params: { id: 'none' } }).catch((error) => error instanceof QuestlineError && error.status);
  const stopping = new AbortController();
  const stopped = await upload(client, file, { signal: stopping.signal, onProgress: () => stopping.abort() }).catch((error) => error.name);
  return { name: me.name, reply, text, stored: stored.moderation_status, progress: seen.at(-1), names, aborted, failed, stopped };
};

if (globalThis.window === undefined) {
  onmessage = async ({ data }) => postMessage(await journey(data));
} else {
  window.page = journey;
  window.worker = (tokens) => new Promise((resolve, reject) => {
    const worker = new Worker('/page.js', { type: 'module' });
    worker.onmessage = ({ data }) => resolve(data);
    worker.onerror = reject;
    worker.postMessage(tokens);
  });
}
`;

/** A host with a page, and a user who is signed in. */
async function startHost() {
  const ports = createMemoryPorts();
  const services = createServices(
    { ...ports, models: [createDemoProvider()] },
    { jwtSecret: 'a'.repeat(64), admin: { DefaultAPIModel: 'demo-echo' } },
  );
  const api = createApi(services);
  await api.start();
  const bundle = await build({
    stdin: { contents: PAGE, resolveDir: import.meta.dirname },
    bundle: true,
    format: 'esm',
    platform: 'browser',
    conditions: ['@questline/source'],
    write: false,
  });
  const listener = toNodeListener(api);
  const server = createServer((request, response) => {
    if (request.url === '/') {
      response.setHeader('content-type', 'text/html');
      response.end(
        '<!doctype html><link rel="icon" href="data:,"><script type="module" src="/page.js"></script>',
      );
    } else if (request.url === '/page.js') {
      response.setHeader('content-type', 'text/javascript');
      response.end(bundle.outputFiles[0]?.contents);
    } else {
      listener(request, response);
    }
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(async () => {
    server.closeAllConnections();
    server.close();
    await api.close();
  });
  const user = await createUser(services, { email: 'ada@example.com', username: 'ada' });
  if (user === undefined) throw new Error('there is a user');
  await services.ledger.grant({
    account: `user:${user.id}`,
    amount: fromCredits(100),
    key: 'start',
    reason: 'start',
  });
  const sign = (typ: 'access' | 'refresh') =>
    services.tokens.sign({ id: user.id, tokenVersion: user.tokenVersion, typ });
  const tokens = { accessToken: 'expired', refreshToken: await sign('refresh') };
  return { origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, tokens };
}

describe.runIf(hasBrowser())('in a browser', () => {
  it.each(['page', 'worker'])(
    'renews tokens, chats, streams, uploads with progress, lists and aborts in a %s',
    async (place) => {
      const { origin, tokens } = await startHost();
      const window = await openWindow({ width: 400, height: 300 });
      onTestFinished(() => window.close());
      await window.page.goto(origin);
      await window.page.waitForFunction('window.worker');
      const result = await window.page.evaluate(`window.${place}(${JSON.stringify(tokens)})`);
      expect(result).toEqual({
        name: 'ada',
        reply: expect.stringContaining('Hello'),
        text: expect.stringContaining('One two'),
        stored: 'clean',
        progress: { loaded: 2_000_000, total: 2_000_000 },
        names: ['a.txt'],
        aborted: 'AbortError',
        failed: 404,
        stopped: 'AbortError',
      });
      expect([...window.asked]).toEqual([origin]);
    },
  );
});
