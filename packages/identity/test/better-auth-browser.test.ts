import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { promisify } from 'node:util';
import { createApi, createDemoProvider, createServices, type Incident, USERS } from '@questline/core';
import { createMemoryPorts, createSystemClock } from '@questline/core/memory';
import { toExpress } from '@questline/express';
import { betterAuthIdentity } from '@questline/identity/better-auth';
import { betterAuth } from 'better-auth';
import { memoryAdapter } from 'better-auth/adapters/memory';
import { toNodeHandler } from 'better-auth/node';
import express from 'express';
import type { Page } from 'playwright-core';
import { beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import { createConsole } from '../../console/src/index.ts';
import { hasBrowser, openWindow } from '../../server/test/browser.ts';
import { root } from '../../server/test/journey.ts';

vi.setConfig({ testTimeout: 300_000, hookTimeout: 300_000 });

/** A page of the host that sends JSON to better-auth and goes on. */
const toPage = (
  path: string,
  body: string,
  next: string,
) => `<!doctype html><html lang="en"><title>Host</title><link rel="icon" href="data:,">
<form><input name="email" aria-label="E-mail"><button>Continue</button></form>
<script>
document.forms[0].onsubmit = async (event) => {
  event.preventDefault();
  const email = document.forms[0].email.value;
  const answer = await fetch('/api/auth/${path}', {
    method: 'POST', headers: { 'Content-Type': 'application/json' }, body: JSON.stringify(${body}),
  });
  location = answer.ok ? '${next}' : '/refused';
};
</script></html>`;

const PASSWORD = "'correct horse battery'";
const PAGES: Readonly<Record<string, string>> = {
  '/register': toPage('sign-up/email', `{ email, password: ${PASSWORD}, name: 'Alice' }`, '/console/'),
  '/sign-in': toPage('sign-in/email', `{ email, password: ${PASSWORD} }`, '/console/'),
  '/sign-out': toPage('sign-out', '{}', '/sign-in'),
};

async function listen(server: ReturnType<typeof createServer>, host: string): Promise<string> {
  server.listen(0, host);
  await once(server, 'listening');
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://${host}:${(server.address() as AddressInfo).port}`;
}

/** Express with better-auth, Questline and the console, as a host sets it up. */
async function startHost() {
  const app = express();
  const origin = await listen(createServer(app), '127.0.0.1');
  const auth = betterAuth({
    baseURL: origin,
    secret: 'a-secret-of-the-host-of-32-characters',
    database: memoryAdapter({ user: [], session: [], account: [], verification: [] }),
    emailAndPassword: { enabled: true },
    session: { cookieCache: { enabled: true, maxAge: 300 } },
    rateLimit: { enabled: false },
    telemetry: { enabled: false },
  });
  const system = createSystemClock();
  let skipped = 0;
  const clock = { now: () => system.now() + skipped, timer: system.timer };
  const incidents: Incident[] = [];
  const services = createServices(
    {
      ...createMemoryPorts({ clock }),
      clock,
      models: [createDemoProvider()],
      identity: betterAuthIdentity(auth),
    },
    {
      jwtSecret: 'a'.repeat(64),
      admin: { defaultFreeCredits: 100 },
      onError: (incident) => incidents.push(incident),
    },
  );
  const api = createApi(services);
  onTestFinished(() => api.close());
  app.all('/api/auth/*splat', toNodeHandler(auth));
  for (const [path, page] of Object.entries(PAGES)) {
    app.get(path, (_request, response) => void response.type('html').send(page));
  }
  app.use(toExpress(api));
  const session = { cookies: true, signInUrl: '/sign-in', signOutUrl: '/sign-out' } as const;
  app.use(toExpress(createConsole({ path: '/console', api, session })));
  return {
    origin,
    services,
    incidents,
    skip: (ms: number) => {
      skipped += ms;
    },
  };
}

/** Another site with a form that posts to the API as soon as it is open. */
async function startForger(target: string, host: string): Promise<string> {
  const page = `<!doctype html><form method="post" enctype="text/plain" action="${target}">
<input name='{"name":"forged","x":"' value='"}'></form><script>document.forms[0].submit()</script>`;
  const server = createServer((_request, response) => {
    response.writeHead(200, { 'Content-Type': 'text/html' }).end(page);
  });
  return listen(server, host);
}

/** The status of a completion that the page asks for with its cookies. */
const complete = (page: Page): Promise<number> =>
  page.evaluate(
    `fetch('/api/ai/v1/completions', {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify({ model: 'demo-chat', messages: [{ role: 'user', content: 'Hello' }] }),
    }).then(async (answer) => { await answer.text(); return answer.status; })`,
  );

describe.skipIf(!hasBrowser())('better-auth, Questline and its console in one Express application', () => {
  beforeAll(async () => {
    await promisify(execFile)('npm', ['run', '--silent', 'build:app', '-w', '@questline/console'], {
      cwd: root,
    });
  });

  it('signs up, chats in the console and by fetch, refuses forms of other sites, and ends with the session', async () => {
    const { origin, services, incidents, skip } = await startHost();
    const { page, complaints, close } = await openWindow({ width: 1200, height: 800 });
    try {
      await page.goto(`${origin}/console`);
      await page.waitForURL(`${origin}/sign-in`);
      await page.goto(`${origin}/register`);
      await page.getByLabel('E-mail').fill('alice@example.com');
      await page.getByRole('button', { name: 'Continue' }).click();
      await page.getByLabel('Message').waitFor();
      await page.getByRole('link', { name: 'Account' }).getByText('Alice', { exact: true }).waitFor();
      await page.getByLabel('Message').fill('Hello');
      await page.keyboard.press('Enter');
      await page.locator('.message.assistant').first().waitFor();
      expect(await complete(page)).toBe(200);
      // The page that is not signed in reports its 401.
      expect(complaints.filter((text) => !text.includes('401'))).toEqual([]);

      const target = `${origin}/api/v1/sessions`;
      const sessions = await page.evaluate(`fetch('/api/v1/sessions').then((answer) => answer.json())`);
      // Another port is the same site: its browser attaches the cookie. Another name is another site.
      for (const host of ['127.0.0.1', 'localhost']) {
        const forger = await startForger(target, host);
        const posted = page.waitForResponse((answer) => answer.url() === target);
        await page.goto(forger);
        const answer = await posted;
        expect([host, answer.request().method(), answer.status()]).toEqual([host, 'POST', 403]);
      }
      await page.goto(`${origin}/console/`);
      await page.getByLabel('Message').waitFor();
      expect(await page.evaluate(`fetch('/api/v1/sessions').then((answer) => answer.json())`)).toEqual(
        sessions,
      );

      await page.getByRole('button', { name: 'Sign out' }).click();
      await page.getByRole('button', { name: 'Continue' }).click();
      await page.waitForURL(`${origin}/sign-in`);
      skip(2000);
      expect(await complete(page)).toBe(401);
      await page.getByLabel('E-mail').fill('alice@example.com');
      await page.getByRole('button', { name: 'Continue' }).click();
      await page.getByLabel('Message').waitFor();
      expect(await complete(page)).toBe(200);
      expect(await services.store.collection(USERS).count({})).toBe(1);
      expect(incidents).toEqual([]);
    } finally {
      await close();
    }
  });
});
