import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createApi, createDemoProvider, createServices, type Incident, USERS } from '@questline/core';
import { createMemoryPorts } from '@questline/core/memory';
import { toExpress } from '@questline/express';
import { betterAuthIdentity } from '@questline/identity/better-auth';
import { createFakeClock } from '@questline/testing';
import { betterAuth } from 'better-auth';
import { memoryAdapter } from 'better-auth/adapters/memory';
import { toNodeHandler } from 'better-auth/node';
import express from 'express';
import { describe, expect, it, onTestFinished } from 'vitest';

/** An Express application with better-auth and Questline, as a host writes it. */
async function startHost() {
  const app = express();
  const server = createServer(app).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const auth = betterAuth({
    baseURL: origin,
    secret: 'a-secret-of-the-host-of-32-characters',
    database: memoryAdapter({ user: [], session: [], account: [], verification: [] }),
    emailAndPassword: { enabled: true },
    // The worst case: better-auth may answer from the cookie for five minutes.
    session: { cookieCache: { enabled: true, maxAge: 300 } },
    rateLimit: { enabled: false },
    telemetry: { enabled: false },
  });
  app.all('/api/auth/*splat', toNodeHandler(auth));
  app.use(express.json(), express.urlencoded({ extended: false }));
  const clock = createFakeClock(Date.UTC(2026, 10, 21, 12));
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
  const api = createApi(services, { worker: false });
  app.use(toExpress(api));
  onTestFinished(async () => {
    await api.close();
    server.closeAllConnections();
    server.close();
  });
  return { origin, services, clock, incidents };
}

type Host = Awaited<ReturnType<typeof startHost>>;

const post = (origin: string, path: string, body: object, headers: Record<string, string> = {}) =>
  fetch(`${origin}${path}`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', Origin: origin, ...headers },
    body: JSON.stringify(body),
  });

const toCookie = (answer: Response): string =>
  answer.headers
    .getSetCookie()
    .map((cookie) => cookie.split(';', 1)[0])
    .join('; ');

const ALICE = { email: 'alice@example.com', password: 'correct horse battery', name: 'Alice' };

async function signUp({ origin }: Host): Promise<string> {
  const signedUp = await post(origin, '/api/auth/sign-up/email', ALICE);
  expect(signedUp.status).toBe(200);
  const { email, password } = ALICE;
  const signedIn = await post(origin, '/api/auth/sign-in/email', { email, password });
  expect(signedIn.status).toBe(200);
  return toCookie(signedIn);
}

const complete = (origin: string, headers: Record<string, string>) =>
  post(
    origin,
    '/api/ai/v1/completions',
    { model: 'demo-chat', messages: [{ role: 'user', content: 'Hello' }] },
    headers,
  );

describe('better-auth and Questline in one Express application', () => {
  it('chats with the cookie of a signed-in user, and rejects it two seconds after the sign-out', async () => {
    const host = await startHost();
    const { origin } = host;
    expect((await complete(origin, {})).status).toBe(401);
    const Cookie = await signUp(host);
    const chat = await complete(origin, { Cookie });
    expect(chat.status).toBe(200);
    expect(await chat.text()).toContain('[DONE]');
    const me = await fetch(`${origin}/api/v1/me`, { headers: { Cookie } });
    expect(await me.json()).toMatchObject({ name: 'Alice' });
    expect((await post(origin, '/api/auth/sign-out', {}, { Cookie })).status).toBe(200);
    await host.clock.advance(2000);
    // The cookie cache of better-auth would still accept it.
    expect((await complete(origin, { Cookie })).status).toBe(401);
    expect(host.incidents).toEqual([]);
  });

  it('gives the same account to every session of a user', async () => {
    const host = await startHost();
    const getId = async (Cookie: string) => {
      const me = await fetch(`${host.origin}/api/v1/me`, { headers: { Cookie } });
      return ((await me.json()) as { id: string }).id;
    };
    const first = await getId(await signUp(host));
    const { email, password } = ALICE;
    const again = toCookie(await post(host.origin, '/api/auth/sign-in/email', { email, password }));
    expect(await getId(again)).toBe(first);
    // The address is not verified, so the account does not use it.
    const user = await host.services.store.collection(USERS).get(first);
    expect(user?.email).toBe(`${first}@users.invalid`);
  });

  it('rejects a form of another site', async () => {
    const host = await startHost();
    const Cookie = await signUp(host);
    const form = await fetch(`${host.origin}/api/v1/sessions`, {
      method: 'POST',
      headers: {
        'Content-Type': 'application/x-www-form-urlencoded',
        Cookie,
        Origin: 'https://evil.example',
        'Sec-Fetch-Site': 'cross-site',
        'Sec-Fetch-Mode': 'navigate',
      },
      body: 'name=x',
    });
    expect(form.status).toBe(403);
    expect((await complete(host.origin, { Cookie, Origin: 'https://evil.example' })).status).toBe(403);
    expect(await host.services.store.collection(USERS).count({})).toBe(0);
  });

  it('rejects forged and truncated cookies', async () => {
    const host = await startHost();
    const Cookie = await signUp(host);
    for (const forged of [
      Cookie.replaceAll(/.(?=;|$)/g, ''),
      Cookie.replace(/=(\w)/, (_, first) => (first === 'x' ? '=y' : '=x')),
      'better-auth.session_token=x',
    ]) {
      expect((await complete(host.origin, { Cookie: forged })).status).toBe(401);
    }
  });
});
