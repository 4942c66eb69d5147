import { expect } from 'vitest';
import { CLIENT_ID, DEVICE_GRANT, decide, initiate } from '../../support/device-login.ts';
import { NOW, type TestApp } from '../../support/test-app.ts';
import type { Asked } from '../../support/wire.ts';
import { refused, type WireCase } from './case.ts';

const SECRETLY = { 'cache-control': 'no-store' };
const A_TOKEN = expect.stringMatching(/^[\w-]+\.[\w-]+\.[\w-]+$/);
const USER_CODE = '[BCDFGHJKLMNPQRSTVWXZ]{4}-[BCDFGHJKLMNPQRSTVWXZ]{4}';
const TOKENS = {
  access_token: A_TOKEN,
  refresh_token: A_TOKEN,
  token_type: 'Bearer',
  expires_in: 604_800,
};
const DEVICE_INFO = {
  client_id: CLIENT_ID,
  user_agent: 'cli/1.0',
  ip_address: '203.0.113.9',
  requested_at: new Date(NOW).toISOString(),
  expires_at: new Date(NOW + 600_000).toISOString(),
};
const start = (app: TestApp) => initiate(app, '203.0.113.9', { 'User-Agent': 'cli/1.0' });

const slow = (limit: number): Omit<WireCase, 'title' | 'ask'> => ({
  headers: { 'retry-after': '900' },
  ...refused('oauth', {
    status: 429,
    message: `Rate limit exceeded: ${limit} requests per 15 minutes allowed`,
  }),
});

export const initiateDeviceLogin: readonly WireCase[] = [
  {
    title: 'returns the codes and the verification address',
    ask: { body: { client_id: CLIENT_ID, status: 'approved', userId: 'f'.repeat(24) } },
    status: 200,
    headers: SECRETLY,
    body: {
      device_code: expect.stringMatching(/^[0-9A-Za-z]{43}$/),
      user_code: expect.stringMatching(new RegExp(`^${USER_CODE}$`)),
      verification_uri: expect.stringMatching(/^http:\/\/[^/]+\/device$/),
      verification_uri_complete: expect.stringMatching(
        new RegExp(`^http://[^/]+/device\\?code=${USER_CODE}$`),
      ),
      expires_in: 600,
      interval: 5,
    },
    everywhere: true,
  },
  {
    title: 'rejects a client id with invalid characters',
    ask: { body: { client_id: '<b>cli</b>' } },
    ...refused('oauth', {
      status: 400,
      message: 'client_id: expected 1 to 100 letters, digits and ._:/@-, got 10 characters of text',
    }),
  },
  {
    title: 'rejects a 21st login from one address',
    ask: async (app) => {
      for (let count = 0; count < 20; count += 1) await initiate(app);
      return { body: { client_id: CLIENT_ID } };
    },
    ...slow(20),
  },
];

const polled = (device_code: string): Partial<Asked> => ({
  body: { grant_type: DEVICE_GRANT, device_code, client_id: CLIENT_ID },
});

export const pollDeviceLogin: readonly WireCase[] = [
  {
    title: 'returns the tokens of an approved login',
    ask: async (app) => {
      const codes = await start(app);
      await decide(app, codes.user_code);
      return polled(codes.device_code);
    },
    status: 200,
    headers: SECRETLY,
    body: TOKENS,
    everywhere: true,
  },
  {
    title: 'reports a login that waits for the user',
    ask: async (app) => polled((await start(app)).device_code),
    ...refused('oauth', {
      status: 400,
      code: 'authorization_pending',
      message: 'The user has not decided yet',
    }),
  },
  {
    title: 'reports a denied login',
    ask: async (app) => {
      const codes = await start(app);
      await decide(app, codes.user_code, 'deny');
      return polled(codes.device_code);
    },
    ...refused('oauth', { status: 403, code: 'access_denied', message: 'The user refused the login' }),
  },
  {
    title: 'reports an unknown code',
    ask: polled('unknown'),
    ...refused('oauth', {
      status: 400,
      code: 'invalid_grant',
      message: 'The device code is unknown or was used',
    }),
  },
];

export const describeDeviceLogin: readonly WireCase[] = [
  {
    title: 'returns the name and location of the device',
    ask: async (app) => ({ body: { user_code: (await start(app)).user_code.toLowerCase() } }),
    status: 200,
    body: { device_info: DEVICE_INFO },
    everywhere: true,
  },
  {
    title: 'rejects an unknown code',
    ask: { body: { user_code: 'BCDF-GHJK' } },
    ...refused('oauth', {
      status: 404,
      code: 'invalid_code',
      message: 'The code is wrong, decided or expired',
    }),
  },
  {
    title: 'rejects a 21st code of one user',
    ask: async (app) => {
      for (let count = 0; count < 20; count += 1) await decide(app, 'BCDF-GHJK');
      return { body: { user_code: 'BCDF-GHJK' } };
    },
    // The twenty calls were counted too.
    ...{ ...slow(20), headers: { 'retry-after': '900', 'x-ratelimit-remaining': '979' } },
  },
];

export const verifyDeviceLogin: readonly WireCase[] = [
  {
    title: 'approves a login',
    ask: async (app) => ({ body: { user_code: (await start(app)).user_code, action: 'approve' } }),
    status: 200,
    body: { success: true, device_info: DEVICE_INFO },
    everywhere: true,
  },
  {
    title: 'denies a login',
    ask: async (app) => ({ body: { user_code: (await start(app)).user_code, action: 'deny' } }),
    status: 200,
    body: { success: true, device_info: DEVICE_INFO },
  },
  {
    title: 'rejects an unknown code',
    ask: { body: { user_code: 'BCDF-GHJK', action: 'approve' } },
    ...refused('oauth', {
      status: 404,
      code: 'invalid_code',
      message: 'The code is wrong, decided or expired',
    }),
  },
  {
    title: 'rejects a 21st code of one user',
    ask: async (app) => {
      for (let count = 0; count < 20; count += 1) await decide(app, 'BCDF-GHJK');
      return { body: { user_code: 'BCDF-GHJK', action: 'approve' } };
    },
    ...{ ...slow(20), headers: { 'retry-after': '900', 'x-ratelimit-remaining': '979' } },
  },
];

const refreshOf = async ({ services, user: { id } }: TestApp): Promise<Partial<Asked>> => ({
  body: {
    grant_type: 'refresh_token',
    refresh_token: await services.tokens.sign({ id, tokenVersion: 0, typ: 'refresh' }),
    client_id: CLIENT_ID,
  },
});

export const renewDeviceTokens: readonly WireCase[] = [
  {
    title: 'exchanges a refresh token',
    ask: refreshOf,
    status: 200,
    headers: SECRETLY,
    body: TOKENS,
    everywhere: true,
  },
  {
    title: 'rejects an invalid refresh token',
    ask: { body: { grant_type: 'refresh_token', refresh_token: 'x', client_id: CLIENT_ID } },
    headers: { 'www-authenticate': 'Bearer' },
    ...refused('oauth', {
      status: 401,
      code: 'invalid_grant',
      message: 'The refresh token is invalid, expired, used or revoked',
    }),
  },
  {
    title: 'rejects a second exchange in a minute when the host allows one',
    app: () => ({ settings: { signInLimits: { refresh: { limit: 1, seconds: 60 } } } }),
    ask: async (app) => {
      const asked = await refreshOf(app);
      await app.ask('POST', '/api/oauth/refresh', { credential: null, body: asked.body });
      return asked;
    },
    headers: { 'retry-after': '60' },
    ...refused('oauth', { status: 429, message: 'Rate limit exceeded: 1 request per minute allowed' }),
  },
];
