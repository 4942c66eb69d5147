import { USERS } from '@questline/core';
import { DEVICE_LOGINS } from '@questline/core/internal';
import { describe, expect, it } from 'vitest';
import { CLIENT_ID, DEVICE_GRANT, decide, initiate, oauth, poll } from '../support/device-login.ts';
import { createHostApp } from '../support/host.ts';
import { createTestApp, type TestApp } from '../support/test-app.ts';

const pending = { status: 400, body: expect.objectContaining({ error: 'authorization_pending' }) };
const tooFast = { status: 400, body: expect.objectContaining({ error: 'slow_down' }) };
const used = { status: 400, body: expect.objectContaining({ error: 'invalid_grant' }) };
const wrongCode = { status: 404, body: expect.objectContaining({ error: 'invalid_code' }) };

const identify = async (app: TestApp, credential = '') =>
  (await app.ask('GET', '/api/identify', { credential })).status;

const logins = (app: TestApp) => app.services.store.collection(DEVICE_LOGINS);

describe('login of a device', () => {
  it('signs the device in as the user who approves, and renews its tokens', async () => {
    const app = await createTestApp();
    const codes = await initiate(app);
    expect(await poll(app, codes)).toEqual(pending);
    await app.clock.advance(5000);
    await decide(app, codes.user_code);
    const { status, body } = await poll(app, codes);
    expect(status).toBe(200);
    expect(body).not.toHaveProperty('error');
    expect(await identify(app, body.access_token)).toBe(200);
    const renewed = await oauth(app, 'refresh', {
      grant_type: 'refresh_token',
      refresh_token: body.refresh_token,
      client_id: CLIENT_ID,
    });
    expect(renewed.status).toBe(200);
    expect(renewed.body.refresh_token).not.toBe(body.refresh_token);
    expect(await identify(app, renewed.body.access_token)).toBe(200);
  });

  it('returns its tokens to one of 50 parallel polls', async () => {
    const app = await createTestApp();
    const codes = await initiate(app);
    await decide(app, codes.user_code);
    const answers = await Promise.all(Array.from({ length: 50 }, () => poll(app, codes)));
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
    expect(answers.filter(({ body }) => body.error === 'invalid_grant')).toHaveLength(49);
  });

  it('accepts its code only from the same client', async () => {
    const app = await createTestApp();
    const codes = await initiate(app);
    await decide(app, codes.user_code);
    const body = { grant_type: DEVICE_GRANT, device_code: codes.device_code, client_id: 'another' };
    expect(await oauth(app, 'device/token', body)).toEqual(used);
    expect((await poll(app, codes)).status).toBe(200);
  });

  it('accepts a code in any case and spacing, once', async () => {
    const app = await createTestApp();
    const codes = await initiate(app);
    const typed = ` ${codes.user_code.toLowerCase().replace('-', ' ')} `;
    expect((await decide(app, typed)).status).toBe(200);
    expect(await decide(app, codes.user_code, 'deny')).toEqual(wrongCode);
    expect((await poll(app, codes)).status).toBe(200);
  });

  it('is decided once by parallel decisions', async () => {
    const app = await createTestApp();
    const codes = await initiate(app);
    const decisions = await Promise.all(
      (['approve', 'deny', 'approve', 'deny'] as const).map((action) => decide(app, codes.user_code, action)),
    );
    expect(decisions.filter(({ status }) => status === 200)).toHaveLength(1);
  });

  it('expires after 600 seconds, is then unknown to users, and is deleted later', async () => {
    const app = await createTestApp();
    const codes = await initiate(app);
    await app.clock.advance(600_000);
    const expired = { status: 400, body: expect.objectContaining({ error: 'expired_token' }) };
    expect(await poll(app, codes)).toEqual(expired);
    expect(await decide(app, codes.user_code)).toEqual(wrongCode);
    expect(await app.services.deviceLogins.sweep()).toBe(0);
    await app.clock.advance(600_000);
    expect(await app.services.deviceLogins.sweep()).toBe(1);
    expect(await logins(app).find({})).toEqual([]);
    expect(await poll(app, codes)).toEqual(used);
  });

  it('does not accept an approval after the code has expired', async () => {
    const app = await createTestApp();
    const codes = await initiate(app);
    await decide(app, codes.user_code);
    await app.clock.advance(600_000);
    expect((await poll(app, codes)).body.error).toBe('expired_token');
  });
});

describe('form body of an OAuth client', () => {
  const TYPE = 'application/x-www-form-urlencoded';
  const send = async (app: TestApp, path: string, body: string, type = TYPE, credential?: string) => {
    const answer = await app.ask('POST', `/api/oauth/${path}`, {
      credential: credential ?? null,
      headers: { 'Content-Type': type },
      body,
    });
    return { status: answer.status, body: (await answer.json()) as Record<string, string> };
  };
  const form = (fields: Record<string, string>) => new URLSearchParams(fields).toString();

  it('starts a login, polls for its tokens and renews them', async () => {
    const app = await createTestApp();
    const started = await send(
      app,
      'device/initiate',
      form({ client_id: CLIENT_ID }),
      `${TYPE};charset=UTF-8`,
    );
    expect(started.status).toBe(200);
    const request = form({
      grant_type: DEVICE_GRANT,
      device_code: started.body.device_code ?? '',
      client_id: CLIENT_ID,
    });
    expect(await send(app, 'device/token', request)).toEqual(pending);
    await decide(app, started.body.user_code ?? '');
    const granted = await send(app, 'device/token', request);
    expect(granted).toMatchObject({ status: 200, body: { token_type: 'Bearer' } });
    const refresh = form({
      grant_type: 'refresh_token',
      refresh_token: granted.body.refresh_token ?? '',
      client_id: CLIENT_ID,
    });
    const renewed = await send(app, 'refresh', refresh);
    expect(renewed.status).toBe(200);
    expect(await identify(app, renewed.body.access_token)).toBe(200);
  });

  it('is rejected with an OAuth error when a field is missing, wrong or repeated', async () => {
    const app = await createTestApp();
    for (const body of [
      'scope=all',
      `client_id=${'x'.repeat(101)}`,
      'client_id=a&client_id=b',
      'client_id=%00',
      '__proto__=x',
      Array.from({ length: 101 }, (_, at) => `a${at}=1`).join('&'),
    ]) {
      expect(await send(app, 'device/initiate', body)).toMatchObject({
        status: 400,
        body: { error: 'invalid_request' },
      });
    }
  });

  it('is not accepted for the decision of a user, because another site could send it', async () => {
    const app = await createTestApp();
    const { user_code } = await initiate(app);
    const body = form({ user_code, action: 'approve' });
    const { status } = await send(app, 'device/verify', body, TYPE, await app.token());
    expect(status).toBe(400);
    expect((await decide(app, user_code)).status).toBe(200);
  });
});

describe('polls of a device', () => {
  it('raise the interval by five seconds when they come too early, to at most a minute', async () => {
    const app = await createTestApp();
    const codes = await initiate(app);
    expect(await poll(app, codes)).toEqual(pending);
    await app.clock.advance(4999);
    expect(await poll(app, codes)).toEqual(tooFast);
    await app.clock.advance(5000);
    // 9,999 ms after the last accepted poll; the interval is now 10 s.
    expect(await poll(app, codes)).toEqual(tooFast);
    await app.clock.advance(15_000);
    expect(await poll(app, codes)).toEqual(pending);
    for (let count = 0; count < 20; count += 1) expect(await poll(app, codes)).toEqual(tooFast);
    await app.clock.advance(60_000);
    expect(await poll(app, codes)).toEqual(pending);
  });

  it('receive the tokens of an approved login regardless of the interval', async () => {
    const app = await createTestApp();
    const codes = await initiate(app);
    await poll(app, codes);
    await poll(app, codes);
    await decide(app, codes.user_code);
    expect((await poll(app, codes)).status).toBe(200);
  });
});

describe('tokens of a device', () => {
  it('become invalid when the user signs out', async () => {
    const app = await createTestApp();
    const codes = await initiate(app);
    await decide(app, codes.user_code);
    const { body } = await poll(app, codes);
    await app.ask('GET', '/api/logout', { credential: await app.token() });
    expect(await identify(app, body.access_token)).toBe(401);
    const refresh = {
      grant_type: 'refresh_token',
      refresh_token: body.refresh_token,
      client_id: CLIENT_ID,
    };
    expect(await oauth(app, 'refresh', refresh)).toMatchObject({
      status: 401,
      body: { error: 'invalid_grant' },
    });
  });

  it.each([
    ['deleted', (app: TestApp) => app.services.store.collection(USERS).take(app.user.id)],
    [
      'disabled',
      (app: TestApp) => app.services.store.collection(USERS).update(app.user.id, { disabled: true }),
    ],
  ])('become invalid at once when the user is %s', async (_, change) => {
    const app = await createTestApp();
    const codes = await initiate(app);
    await decide(app, codes.user_code);
    const { body } = await poll(app, codes);
    expect(await identify(app, body.access_token)).toBe(200);
    await change(app);
    app.services.authenticator.forgetUser(app.user.id);
    expect(await identify(app, body.access_token)).toBe(401);
    const refresh = { grant_type: 'refresh_token', refresh_token: body.refresh_token, client_id: CLIENT_ID };
    expect(await oauth(app, 'refresh', refresh)).toMatchObject({ body: { error: 'invalid_grant' } });
    expect((await initiate(app)).user_code).not.toBe(codes.user_code);
  });

  it('become invalid when a refresh token is used a second time later', async () => {
    const app = await createTestApp();
    const codes = await initiate(app);
    await decide(app, codes.user_code);
    const { body } = await poll(app, codes);
    const refresh = {
      grant_type: 'refresh_token',
      refresh_token: body.refresh_token,
      client_id: CLIENT_ID,
    };
    const first = await oauth(app, 'refresh', refresh);
    await app.clock.advance(31_000);
    expect((await oauth(app, 'refresh', refresh)).status).toBe(401);
    const next = { ...refresh, refresh_token: first.body.refresh_token };
    expect((await oauth(app, 'refresh', next)).status).toBe(401);
  });

  it.each([
    ['signed out', async (app: TestApp) => app.ask('GET', '/api/logout', { credential: await app.token() })],
    [
      'was disabled',
      (app: TestApp) => app.services.store.collection(USERS).update(app.user.id, { disabled: true }),
    ],
    ['was deleted', (app: TestApp) => app.services.store.collection(USERS).take(app.user.id)],
  ])('are not issued when the user %s after the approval', async (_, change) => {
    const app = await createTestApp();
    const codes = await initiate(app);
    await decide(app, codes.user_code);
    await change(app);
    expect(await poll(app, codes)).toMatchObject({ status: 403, body: { error: 'access_denied' } });
  });
});

describe('codes of a device login', () => {
  it('are not stored in plain text', async () => {
    const app = await createTestApp();
    const codes = await initiate(app);
    const stored = JSON.stringify(await logins(app).find({}));
    expect(stored).not.toContain(codes.device_code);
    expect(stored).not.toContain(codes.user_code);
    expect(stored).not.toContain(codes.user_code.replace('-', ''));
  });

  it('can be submitted 60 times in 15 minutes from one address, by all users together', async () => {
    const app = await createTestApp();
    const statuses: number[] = [];
    for (let user = 0; user < 4; user += 1) {
      const token = await app.token(await app.addUser(`p${user}@example.com`));
      for (let count = 0; count < 20; count += 1) {
        const body = { user_code: 'BCDF-GHJK', action: 'approve' };
        statuses.push((await oauth(app, 'device/verify', body, token, '203.0.113.7')).status);
      }
    }
    expect(statuses).toEqual([...Array(60).fill(404), ...Array(20).fill(429)]);
  });

  it('show at most 200 printable characters of the user agent', async () => {
    const app = await createTestApp();
    const codes = await initiate(app, '2001:db8::1', { 'User-Agent': `cli\t${'x'.repeat(300)}` });
    const { body } = await oauth(app, 'device/lookup', { user_code: codes.user_code }, await app.token());
    expect(body.device_info).toMatchObject({
      user_agent: `cli${'x'.repeat(197)}`,
      ip_address: '2001:db8::1',
    });
  });

  it('are shown to users until they are decided, with the device and the time', async () => {
    const app = await createTestApp();
    const { user_code } = await initiate(app, '203.0.113.9', { 'User-Agent': '\u0001' });
    const lookUp = async (code: string) =>
      oauth(app, 'device/lookup', { user_code: code }, await app.token());
    expect(await lookUp(user_code)).toEqual({
      status: 200,
      body: {
        device_info: {
          client_id: CLIENT_ID,
          user_agent: null,
          ip_address: '203.0.113.9',
          requested_at: '2026-11-21T12:00:00.000Z',
          expires_at: '2026-11-21T12:10:00.000Z',
        },
      },
    });
    expect(await lookUp(user_code === 'BCDF-GHJK' ? 'BCDF-GHJL' : 'BCDF-GHJK')).toEqual(wrongCode);
    await decide(app, user_code, 'deny');
    expect(await lookUp(user_code)).toEqual(wrongCode);
  });

  it('can be looked up 20 times in 15 minutes by one user', async () => {
    const app = await createTestApp();
    const { user_code } = await initiate(app);
    const credential = await app.token();
    const statuses: number[] = [];
    for (let count = 0; count < 21; count += 1)
      statuses.push((await oauth(app, 'device/lookup', { user_code }, credential)).status);
    expect(statuses).toEqual([...Array(20).fill(200), 429]);
  });

  it('are issued 20 times in 15 minutes to one address', async () => {
    const app = await createTestApp();
    const statuses: number[] = [];
    for (let count = 0; count < 21; count += 1) {
      const body = { client_id: CLIENT_ID };
      statuses.push((await oauth(app, 'device/initiate', body, null, '203.0.113.9')).status);
    }
    expect(statuses).toEqual([...Array(20).fill(200), 429]);
  });

  it('live for ten minutes, and are polled every five seconds', async () => {
    expect(await initiate(await createTestApp())).toMatchObject({ expires_in: 600, interval: 5 });
  });

  it('are refused, but not approved, by a user whom the host has limited', async () => {
    const host = await createHostApp();
    const headers = host.signIn({ externalId: 'alice', limits: { requestsPerMinute: 5 } });
    const { user_code } = await initiate(host.app);
    const verify = (action: string) =>
      host.ask(headers, 'POST', '/api/oauth/device/verify', { user_code, action });
    expect((await verify('approve')).status).toBe(403);
    expect((await verify('deny')).status).toBe(200);
  });

  it('are accepted from signed-in users, not from API keys', async () => {
    const app = await createTestApp();
    const { user_code } = await initiate(app);
    expect((await decide(app, user_code, 'approve', app.key)).status).toBe(401);
  });
});

describe('verification address of a device login', () => {
  it.each([
    [{}, 'http://questline.test/device'],
    [{ publicUrl: 'https://ai.example.com/' }, 'https://ai.example.com/device'],
    [
      { publicUrl: 'https://ai.example.com', deviceVerificationUrl: 'https://id.example.com/link?from=ai' },
      'https://id.example.com/link?from=ai',
    ],
  ])('with settings %j is %s', async (settings, page) => {
    const app = await createTestApp({ settings });
    const codes = await initiate(app, undefined, { Host: 'questline.test' });
    expect(codes.verification_uri).toBe(page);
    const separator = page.includes('?') ? '&' : '?';
    expect(codes.verification_uri_complete).toBe(`${page}${separator}code=${codes.user_code}`);
  });
});
