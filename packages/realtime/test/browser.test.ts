import { once } from 'node:events';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createRealtime } from '@questline/realtime';
import { chromium, type Page } from 'playwright-core';
import { Server as SocketIoServer } from 'socket.io';
import { io } from 'socket.io-client';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { openClient, refusal } from './client.ts';
import { createTestApp, type TestApp } from './test-app.ts';

const CHROMIUM = process.env.QUESTLINE_TEST_CHROMIUM ?? '/usr/bin/chromium';

const FLAGS = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];

function hasChromium(): boolean {
  if (existsSync(CHROMIUM)) return true;
  if (process.env.CI === 'true') throw new Error(`there is no Chromium at ${CHROMIUM}`);
  console.warn(`There is no Chromium at ${CHROMIUM}: the browser's own WebSocket is not tested.`);
  return false;
}

/** A host with its own socket.io, and live updates on the same server. */
async function createHost(app: TestApp) {
  const server = createServer((_request, response) => {
    response.setHeader('Content-Type', 'text/html').end('<!doctype html><title>host</title>');
  });
  const sockets = new SocketIoServer(server);
  sockets.on('connection', (socket) => {
    socket.on('question', (text, answer) => answer(`the host heard ${text}`));
  });
  const realtime = createRealtime(app.services);
  realtime.attach(server);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    // Not awaited, because a browser keeps its connections.
    void sockets.close();
    server.closeAllConnections();
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, realtime };
}

/** The host's own client, over a websocket on the same server. */
async function askHost(url: string): Promise<unknown> {
  const socket = io(url, { transports: ['websocket'] });
  onTestFinished(() => void socket.close());
  return socket.timeout(20_000).emitWithAck('question', 'ada');
}

describe('realtime beside socket.io on the same server', () => {
  it('keeps both working and separates their connections', async () => {
    const app = await createTestApp();
    const { url } = await createHost(app);
    const ada = await app.addUser('ada');
    const sessionId = await app.addSession(ada);
    const live = `${url.replace('http', 'ws')}/api/realtime`;
    const client = await openClient(live, [`access_token.${await app.token(ada)}`]);
    expect(await askHost(url)).toBe('the host heard ada');
    client.subscribe(sessionId);
    await client.settled();
    app.publish(sessionId);
    expect(await client.next()).toMatchObject({ type: 'agent_thinking', sessionId });
    expect((await refusal(live)).status).toBe(401);
    expect(await askHost(url)).toBe('the host heard ada');
  });
});

describe.runIf(hasChromium())('the browser’s own WebSocket', () => {
  let browser: Awaited<ReturnType<typeof chromium.launchPersistentContext>>;
  const profile = mkdtempSync(join(tmpdir(), 'questline-browser-'));
  beforeAll(async () => {
    browser = await chromium.launchPersistentContext(profile, {
      executablePath: CHROMIUM,
      args: FLAGS,
      timeout: 120_000,
    });
  }, 150_000);
  afterAll(async () => {
    await browser.close();
    rmSync(profile, { recursive: true, force: true });
  }, 60_000);

  it('signs in with a subprotocol, receives events and the reason of a close', {
    timeout: 120_000,
  }, async () => {
    const app = await createTestApp();
    const { url, realtime } = await createHost(app);
    const ada = await app.addUser('ada');
    const sessionId = await app.addSession(ada);
    const page = await browser.newPage();
    page.setDefaultTimeout(60_000);
    await page.goto(url);

    const protocol = `access_token.${await app.token(ada)}`;
    expect(await open(page, url, protocol)).toBe(protocol);
    await say(page, { action: 'subscribe_query', data: { query: 'session', filters: { sessionId } } });
    await say(page, { action: 'heartbeat' });
    expect(await readNext(page)).toBe('pong');
    app.publish(sessionId, ['critic']);
    expect(JSON.parse(await readNext(page))).toMatchObject({ type: 'agent_thinking', agents: ['critic'] });
    await say(page, { action: 'nonsense' });
    expect(JSON.parse(await readNext(page))).toMatchObject({ type: 'error', code: 'unknown_action' });
    expect(await askHost(url)).toBe('the host heard ada');
    await realtime.close();
    expect(await readNext(page)).toBe('closed 1001');

    expect(await open(page, url, 'access_token.nonsense')).toBe('closed 1006');
  });
});

/** Opens a socket in the page. @returns its subprotocol, or the error. */
function open(page: Page, url: string, protocol: string): Promise<string> {
  return page.evaluate(
    ([address = '', offered = '']) =>
      new Promise<string>((resolve) => {
        const socket = new WebSocket(address, [offered]);
        const heard: string[] = [];
        socket.onopen = () => resolve(socket.protocol);
        socket.onmessage = ({ data }) => heard.push(String(data));
        socket.onclose = ({ code }) => {
          heard.push(`closed ${code}`);
          resolve(`closed ${code}`);
        };
        Object.assign(globalThis, { live: socket, heard });
      }),
    [`${url.replace('http', 'ws')}/api/realtime`, protocol],
  );
}

function say(page: Page, frame: object): Promise<void> {
  return page.evaluate((text) => {
    (globalThis as unknown as { live: WebSocket }).live.send(text);
  }, JSON.stringify(frame));
}

/** The next message that the page receives. */
async function readNext(page: Page): Promise<string> {
  const next = await page.waitForFunction(() => (globalThis as unknown as { heard: string[] }).heard.shift());
  return String(await next.jsonValue());
}
