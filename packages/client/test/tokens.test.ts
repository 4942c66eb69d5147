import { createTokens, type Tokens } from '@questline/client';
import * as operations from '@questline/client/operations';
import { describe, expect, it, onTestFinished } from 'vitest';
import { codeFor } from '../../../test/support/sign-in.ts';
import { createTestApp, type TestApp } from '../../../test/support/test-app.ts';
import { createAppClient, createAppFetch, createScriptedClient, json } from './support.ts';

const DAY = 86_400_000;

async function createApp(): Promise<TestApp> {
  const app = await createTestApp();
  onTestFinished(() => app.api.close());
  return app;
}

/** Signs in. @returns a storage as an application has it, and the paths of all requests. */
async function signIn(app: TestApp) {
  const send = createAppFetch(app);
  const paths: string[] = [];
  const fetch: typeof send = (url, init) => {
    paths.push(new URL(url).pathname);
    return send(url, init);
  };
  const body = await codeFor(app, app.user.email);
  const answer = await createAppClient(app).call(operations.verifySignInCode, { body });
  if (!('accessToken' in answer)) throw new Error('there is no account');
  let tokens: Tokens | undefined = answer;
  const storage = {
    load: () => tokens,
    save(next: Tokens | undefined) {
      tokens = next;
    },
  };
  const connect = () => createAppClient(app, { credential: createTokens(storage), fetch });
  return { storage, paths, connect };
}

describe('tokens', () => {
  it('are renewed once for parallel calls', async () => {
    const app = await createApp();
    const { connect, paths, storage } = await signIn(app);
    const client = connect();
    const before = storage.load();
    await app.clock.advance(8 * DAY);
    const answers = await Promise.all(Array.from({ length: 20 }, () => client.call(operations.getMe)));
    expect(new Set(answers.map(({ id }) => id))).toEqual(new Set([app.user.id]));
    expect(paths.filter((path) => path === '/api/auth/refreshToken')).toHaveLength(1);
    expect(storage.load()).not.toEqual(before);
    await client.call(operations.getMe);
    expect(paths.filter((path) => path === '/api/auth/refreshToken')).toHaveLength(1);
  });

  it('stay valid in two tabs that renew at once', async () => {
    const app = await createApp();
    const { connect } = await signIn(app);
    const tabs = [connect(), connect()];
    await app.clock.advance(8 * DAY);
    await Promise.all(tabs.map((tab) => tab.call(operations.getMe)));
    await app.clock.advance(8 * DAY);
    for (const tab of tabs) expect((await tab.call(operations.getMe)).id).toBe(app.user.id);
  });

  it('are removed when the refresh token is rejected, and the call rejects with 401', async () => {
    const app = await createApp();
    const { connect, storage } = await signIn(app);
    await app.clock.advance(31 * DAY);
    await expect(connect().call(operations.getMe)).rejects.toMatchObject({ status: 401 });
    expect(storage.load()).toBeUndefined();
  });

  it('are kept when the server cannot be reached', async () => {
    const tokens = { accessToken: 'a', refreshToken: 'r' };
    const credential = createTokens({ load: () => tokens, save: () => expect.unreachable() });
    const offline = new TypeError('fetch failed');
    const { client } = createScriptedClient([json({}, 401), offline], { credential, retries: 0 });
    await expect(client.call(operations.getMe)).rejects.toMatchObject({ code: 'network_error' });
  });
});

describe('a credential of the host', () => {
  it('is asked for another token once when the server rejects one', async () => {
    const asked: (string | undefined)[] = [];
    const { client, sent } = createScriptedClient(
      [json({}, 401), json({ id: 'x' }), json({}, 401), json({}, 401)],
      {
        credential({ rejected }) {
          asked.push(rejected);
          return rejected === undefined ? 'old' : 'new';
        },
      },
    );
    expect(await client.call(operations.getMe)).toEqual({ id: 'x' });
    expect(sent.map(({ headers }) => headers.get('authorization'))).toEqual(['Bearer old', 'Bearer new']);
    await expect(client.call(operations.getMe)).rejects.toMatchObject({ status: 401 });
    expect(asked).toEqual([undefined, 'old', undefined, 'old']);
  });

  it('is not renewed because of the key of a provider', async () => {
    const answer = json({ error: 'no', errorCode: 'provider_rejected' }, 401);
    const { client, sent } = createScriptedClient([answer], { credential: () => `token-${Math.random()}` });
    await expect(client.call(operations.getMe)).rejects.toMatchObject({ code: 'provider_rejected' });
    expect(sent).toHaveLength(1);
  });

  it('can be a cookie with headers of the host', async () => {
    const { client, sent } = createScriptedClient([json({}), new Response(null, { status: 204 })], {
      credential: () => undefined,
      cookies: 'include',
      headers: async () => ({ 'x-tenant': 'a' }),
    });
    await client.call(operations.getMe);
    await client.call(operations.putObject, { link: '/api/v1/objects?key=a', body: new Blob(['a']) });
    expect(sent.map(({ init }) => init.credentials)).toEqual(['include', 'omit']);
    expect(sent.map(({ headers }) => [headers.get('x-tenant'), headers.get('authorization')])).toEqual([
      ['a', null],
      [null, null],
    ]);
    expect(sent[1]?.url).toBe('http://questline.test/api/v1/objects?key=a');
  });

  it('is not sent to operations that take none', async () => {
    const { client, sent } = createScriptedClient([json({})]);
    await client.call(operations.getHealth);
    expect(sent[0]?.headers.get('authorization')).toBeNull();
  });

  it('does not hold back a call that was aborted', async () => {
    const reason = new Error('left');
    const { client, sent } = createScriptedClient([], { credential: () => new Promise(() => undefined) });
    const controller = new AbortController();
    const call = client.call(operations.getMe, {}, { signal: controller.signal });
    controller.abort(reason);
    await expect(call).rejects.toBe(reason);
    expect(sent).toEqual([]);
  });
});
