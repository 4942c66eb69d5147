import { createDemoProvider, createUser, type Mountable, type Services, USERS } from '@questline/core';
import { expect } from 'vitest';
import type { Window } from './browser.ts';
import { type InProcess, inThisProcess } from './in-process.ts';

const COOKIE = 'host=grace';
const PATH = '/console';

/** How the console gets the session of a host. */
export type HostSessionKind = 'tokens' | 'cookies';
export const HOST_SESSIONS: readonly (readonly [string, HostSessionKind])[] = [
  ['an access token from an endpoint of the host', 'tokens'],
  ['its cookies, with an authenticator of its own', 'cookies'],
];

/** A host with its own users and cookies and without sign-in by code; the console is below a path. */
export async function inHost(kind: HostSessionKind): Promise<InProcess> {
  const place = await inThisProcess({
    models: createDemoProvider(),
    console: {
      path: PATH,
      session: {
        ...(kind === 'tokens' ? { tokenUrl: '/host/token' } : { cookies: true }),
        signInUrl: '/host/sign-in',
        signOutUrl: '/host/sign-out',
      },
    },
    ...(kind === 'cookies' && { change: withCookies }),
    host: hostRoutes,
  });
  const user = { email: 'grace@example.com', username: 'Grace' };
  await createUser(place.services, user);
  return place;
}

async function findGrace({ store }: Services) {
  const [user] = await store.collection(USERS).find({ email: 'grace@example.com' }, { limit: 1 });
  return user;
}

/** Accepts the host's cookie on API requests. */
function withCookies(services: Services): Services {
  const { authenticator } = services;
  return {
    ...services,
    authenticator: {
      ...authenticator,
      async authenticate(headers, auth) {
        const user = headers.cookie === COOKIE ? await findGrace(services) : undefined;
        if (user === undefined) return authenticator.authenticate(headers, auth);
        return { kind: 'token', userId: user.id, isAdmin: user.isAdmin };
      },
    },
  };
}

/** The sign-in of the host, and its tokens for signed-in users. */
function hostRoutes(services: Services): Mountable {
  const answer = (status: number, body: unknown, headers: Readonly<Record<string, string>> = {}) => ({
    status,
    headers: { 'Content-Type': 'application/json', ...headers },
    body: JSON.stringify(body),
  });
  return {
    async handle({ path, headers }) {
      if (path === '/host/sign-in') {
        return answer(
          303,
          {},
          { 'Set-Cookie': `${COOKIE}; HttpOnly; SameSite=Lax; Path=/`, Location: `${PATH}/` },
        );
      }
      if (path === '/host/sign-out') {
        return answer(200, { signedOut: true }, { 'Set-Cookie': 'host=; Max-Age=0; Path=/' });
      }
      if (path !== '/host/token') return undefined;
      const user = headers.cookie === COOKIE ? await findGrace(services) : undefined;
      if (user === undefined) return answer(401, {});
      const { id, tokenVersion } = user;
      return answer(200, { accessToken: await services.tokens.sign({ id, tokenVersion, typ: 'access' }) });
    },
  };
}

/** Goes from the console to the sign-in of the host and back, to an answer, and signs out. */
export async function hostRound({ page, complaints }: Window, { url, services }: InProcess): Promise<void> {
  // The page requests the user, and the browser reports the 401.
  await page.goto(`${url}${PATH}`);
  await page.getByLabel('Message').waitFor();
  expect(new URL(page.url()).pathname).toBe(`${PATH}/`);
  await page.getByRole('link', { name: 'Account' }).getByText('Grace', { exact: true }).waitFor();
  await page.getByLabel('Message').fill('Hello');
  await page.keyboard.press('Enter');
  await page.locator('.message.assistant').getByText('Hello').waitFor();
  expect(complaints.filter((text) => !text.includes('401'))).toEqual([]);
  expect(await page.evaluate("localStorage.getItem('questline.token')")).toBeNull();

  // A page that was open for long: the host replaces a rejected token by a new one.
  const user = await findGrace(services);
  await services.store.collection(USERS).add(user?.id ?? '', { tokenVersion: 1 });
  services.authenticator.forgetUser(user?.id ?? '');
  await page.getByRole('link', { name: 'Files' }).click();
  await page.getByText('No files yet.').waitFor();

  await page.getByRole('button', { name: 'Sign out' }).click();
  await page.getByText('signedOut').waitFor();
}
