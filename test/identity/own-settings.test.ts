import { USERS } from '@questline/core';
import { expect, it } from 'vitest';
import { callAs } from '../support/sharing.ts';
import { createTestApp } from '../support/test-app.ts';

const DEFAULTS = { theme: 'dark', language: 'en', notifications: { email: true, slack: false } };

async function setUp() {
  const app = await createTestApp({ settings: { defaultTheme: 'dark' } });
  const read = async () => (await callAs(app, app.user, 'GET', '/api/settings/fetch')).body;
  const put = (body: object) => callAs(app, app.user, 'PUT', '/api/settings/own', body);
  return { app, read, put };
}

it('are the defaults of the server at first', async () => {
  const { read } = await setUp();
  expect(await read()).toEqual(DEFAULTS);
});

it.each<[object, object]>([
  [{ theme: 'light' }, { ...DEFAULTS, theme: 'light' }],
  [{ language: 'de' }, { ...DEFAULTS, language: 'de' }],
  [{ notifications: { email: false } }, { ...DEFAULTS, notifications: { email: false, slack: false } }],
  [{ notifications: {} }, DEFAULTS],
  [{}, DEFAULTS],
])('change by %j in the named fields only', async (change, expected) => {
  const { read, put } = await setUp();
  expect(await put(change)).toEqual({ status: 200, body: expected });
  expect(await read()).toEqual(expected);
});

it('keep what was set before', async () => {
  const { app, read, put } = await setUp();
  const own = { theme: 'light', language: 'de', notifications: { email: false } };
  await put(own);
  await put({});
  await put({ notifications: {} });
  expect(await read()).toEqual({ ...own, notifications: { email: false, slack: false } });
  await app.services.store.collection(USERS).update(app.user.id, { preferences: { theme: 'light' } });
  await put({ language: 'fr' });
  expect(await read()).toMatchObject({ theme: 'light', language: 'fr' });
});

it('are those of the caller', async () => {
  const { app, put } = await setUp();
  const grace = await app.addUser('grace@example.com');
  await put({ theme: 'light' });
  expect((await callAs(app, grace, 'GET', '/api/settings/fetch')).body).toEqual(DEFAULTS);
});

it.each([
  ['GET', '/api/settings/fetch'],
  ['PUT', '/api/settings/own'],
])('answer %s %s with 401 to a user who was deleted a moment ago', async (method, path) => {
  const { app } = await setUp();
  const credential = await app.token();
  await app.ask('GET', '/api/settings/fetch', { credential });
  await app.services.store.collection(USERS).take(app.user.id);
  const answer = await app.ask(method, path, {
    credential,
    ...(method === 'PUT' && { body: { theme: 'light' } }),
  });
  expect(answer.status).toBe(401);
});

it('of the workspace are read and changed by administrators only', async () => {
  const { app } = await setUp();
  expect((await callAs(app, app.user, 'GET', '/api/settings')).status).toBe(403);
  const change = { key: 'EnableArtifacts', value: true };
  expect((await callAs(app, app.user, 'PUT', '/api/settings/update', change)).status).toBe(403);
});
