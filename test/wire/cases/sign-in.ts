import { USERS } from '@questline/core';
import { expect } from 'vitest';
import { adminToken, codeFor } from '../../support/sign-in.ts';
import { NOW, type TestApp } from '../../support/test-app.ts';
import type { Asked } from '../../support/wire.ts';
import { refused, type WireCase } from './case.ts';

const SECRETLY = { 'cache-control': 'no-store' };
const A_PENDING_TOKEN = expect.stringMatching(/^[0-9a-f]{24}\.\d+\.\d{13}\.[\w-]{43}$/);
const A_TOKEN = expect.stringMatching(/^[\w-]+\.[\w-]+\.[\w-]+$/);
const TOKENS = { accessToken: A_TOKEN, refreshToken: A_TOKEN };
const NEW = 'grace@example.com';

const user = (change: object = {}): object => ({
  _id: expect.stringMatching(/^[0-9a-f]{24}$/),
  username: 'ada',
  email: 'ada@example.com',
  firstName: null,
  lastName: null,
  organizationId: null,
  isAdmin: false,
  preferences: { theme: 'system', language: 'en' },
  ...change,
});

const slow = (limit: number, per: string, seconds: string): Omit<WireCase, 'title' | 'ask'> => ({
  headers: { 'retry-after': seconds },
  ...refused('application', {
    status: 429,
    message: `Rate limit exceeded: ${limit} ${limit === 1 ? 'request' : 'requests'} per ${per} allowed`,
  }),
});

export const sendSignInCode: readonly WireCase[] = [
  {
    title: 'returns a token',
    ask: { body: { email: ' Ada@Example.com ' } },
    status: 200,
    headers: SECRETLY,
    body: { pendingToken: A_PENDING_TOKEN },
    everywhere: true,
  },
  {
    title: 'rejects a second mail to the same recipient',
    ask: async (app) => {
      await codeFor(app, NEW);
      return { body: { email: NEW } };
    },
    ...slow(1, '30 seconds', '30'),
  },
  {
    title: 'rejects a sixth mail from one address',
    ask: async (app) => {
      for (let count = 0; count < 5; count += 1) await codeFor(app, `a${count}@example.com`);
      return { body: { email: NEW } };
    },
    ...slow(5, '15 minutes', '900'),
  },
  {
    title: 'rejects a second mail from one address when the host allows one per hour',
    app: () => ({ settings: { signInLimits: { sendFrom: { limit: 1, seconds: 3600 } } } }),
    ask: async (app) => {
      await codeFor(app, 'a@example.com');
      return { body: { email: NEW } };
    },
    ...slow(1, '60 minutes', '3600'),
  },
  {
    title: 'reports a mailer that fails',
    app: () => ({ mailer: () => ({ send: () => Promise.reject(new Error('smtp.internal refused')) }) }),
    ask: { body: { email: NEW } },
    headers: { 'retry-after': '30' },
    ...refused('application', { status: 503, message: 'The mail could not be sent. Try again shortly.' }),
  },
];

const verified =
  (email: string, change: object = {}) =>
  async (app: TestApp): Promise<Partial<Asked>> => ({
    body: { ...(await codeFor(app, email)), ...change },
  });
const WRONG = 'The code is wrong or has expired';

export const verifySignInCode: readonly WireCase[] = [
  {
    title: 'signs in a user with an account',
    ask: verified('ada@example.com'),
    status: 200,
    headers: SECRETLY,
    body: { ...user(), ...TOKENS },
    everywhere: true,
  },
  {
    title: 'accepts a code with blanks',
    ask: async (app) => {
      const { code, ...rest } = await codeFor(app, 'ada@example.com');
      return { body: { ...rest, code: ` ${code.slice(0, 3)} ${code.slice(3)}\n` } };
    },
    status: 200,
    headers: SECRETLY,
    body: { ...user(), ...TOKENS },
  },
  {
    title: 'asks a new user for a name',
    ask: verified(NEW),
    status: 200,
    headers: SECRETLY,
    body: { registrationRequired: true, email: NEW, pendingToken: A_PENDING_TOKEN },
  },
  {
    title: 'registers a user and ignores fields set by the server',
    app: () => ({ settings: { admin: { allowOpenRegistration: true } } }),
    ask: verified(NEW, {
      username: 'Grace',
      isAdmin: true,
      _id: 'f'.repeat(24),
      id: 'f'.repeat(24),
      credits: 5,
      startingCredits: 5,
      tier: 'pro',
      organizationId: 'f'.repeat(24),
      disabled: true,
      tokenVersion: 7,
    }),
    status: 200,
    headers: SECRETLY,
    body: { user: user({ username: 'Grace', email: NEW }), ...TOKENS },
  },
  {
    title: 'rejects a wrong code',
    ask: verified(NEW, { code: 'x' }),
    ...refused('application', {
      status: 422,
      code: 'INVALID_CODE',
      message: WRONG,
      details: { attemptsLeft: 4 },
      extra: { pendingToken: A_PENDING_TOKEN },
    }),
  },
  {
    title: 'rejects a token of another address',
    ask: verified(NEW, { email: 'ada@example.com' }),
    ...refused('application', { status: 422, code: 'INVALID_CODE', message: WRONG }),
  },
  {
    title: 'rejects a code after ten minutes',
    ask: async (app) => {
      const body = await codeFor(app, NEW);
      await app.clock.advance(600_000);
      return { body };
    },
    status: 422,
    body: {
      error: { code: 'INVALID_CODE', message: WRONG },
      timestamp: new Date(NOW + 600_000).toISOString(),
      request_id: 'wire-1',
    },
  },
  {
    title: 'rejects registration without an invite',
    ask: verified(NEW, { username: 'Grace' }),
    ...refused('application', {
      status: 403,
      code: 'REGISTRATION_CLOSED',
      message: 'Registration needs an invite',
      extra: { pendingToken: A_PENDING_TOKEN },
    }),
  },
  {
    title: 'rejects a disabled account',
    ask: async (app) => {
      await app.services.store.collection(USERS).update(app.user.id, { disabled: true });
      return verified('ada@example.com')(app);
    },
    ...refused('application', { status: 403, message: 'This account is disabled' }),
  },
  {
    title: 'rejects an eleventh attempt from one address',
    ask: async (app) => {
      const body = { email: NEW, code: '000000', pendingToken: 'x' };
      for (let count = 0; count < 10; count += 1) {
        await app.ask('POST', '/api/otc/verify', { credential: null, body });
      }
      return { body };
    },
    ...slow(10, '15 minutes', '900'),
  },
];

const UNAUTHORIZED = {
  headers: { 'www-authenticate': 'Bearer' },
  ...refused('application', { status: 401, message: 'Invalid or expired token' }),
};

export const refreshTokens: readonly WireCase[] = [
  ...(['token', 'refreshToken', 'refresh_token'] as const).map((name): WireCase => {
    return {
      title: `exchanges the old token for new ones as ${name}`,
      ask: async ({ services, user: { id } }) => ({
        body: { [name]: await services.tokens.sign({ id, tokenVersion: 0, typ: 'refresh' }) },
      }),
      status: 200,
      headers: SECRETLY,
      body: { user: user(), ...TOKENS },
    };
  }),
  {
    title: 'rejects an access token',
    ask: async (app) => ({ body: { token: await app.token() } }),
    ...UNAUTHORIZED,
  },
  { title: 'rejects an empty body', ask: { body: {} }, ...UNAUTHORIZED },
];

const getRules = (id: string): readonly object[] => [
  { action: 'read', subject: 'User' },
  { action: 'update', subject: 'User', conditions: { _id: id } },
  { action: 'manage', subject: 'Session', conditions: { userId: id } },
  ...['Project', 'File', 'Artifact'].map((subject) => ({
    action: 'manage',
    subject,
    conditions: { owner_id: id },
  })),
  ...['Agent', 'Organization'].map((subject) => ({
    action: 'manage',
    subject,
    conditions: { ownerId: id },
  })),
  ...['Session', 'Project', 'File', 'Artifact', 'Agent'].flatMap((subject) => [
    { action: 'read', subject },
    { action: 'update', subject, conditions: { permission: 'write' } },
  ]),
  { action: 'create', subject: 'Organization' },
  { action: 'read', subject: 'Organization' },
  { action: 'manage', subject: 'Invite', conditions: { invitedBy: id } },
  { action: 'read', subject: 'Invite' },
  { action: 'read', subject: 'Subscription' },
  { action: 'manage', subject: 'ApiKey' },
  { action: 'manage', subject: 'ProviderKey' },
];

export const identify: readonly WireCase[] = [
  {
    title: 'returns the signed-in user',
    status: 200,
    body: ({ user: { id } }) => ({
      user: user({ _id: id, currentCredits: 1000 }),
      permissions: getRules(id),
      accessToken: A_TOKEN,
    }),
    everywhere: true,
  },
  {
    title: 'returns an administrator',
    ask: async (app) => ({ headers: { Authorization: `Bearer ${await adminToken(app)}` } }),
    status: 200,
    body: (app) => ({
      user: user({ isAdmin: true, currentCredits: 1000 }),
      permissions: [
        ...getRules(app.user.id),
        { action: 'manage', subject: 'AdminSetting' },
        { action: 'manage', subject: 'RegistrationInvite' },
        { action: 'update', subject: 'User' },
        ...['User', 'Organization', 'Subscription', 'Agent'].map((subject) => ({
          action: 'administer',
          subject,
        })),
      ],
      accessToken: A_TOKEN,
    }),
  },
];

export const logOut: readonly WireCase[] = [
  { title: 'signs out', status: 200, body: { message: 'Signed out' }, everywhere: true },
];

const FORBIDDEN = refused('application', { status: 403, message: 'Administrators only' });
const asAdmin =
  (asked: Partial<Asked> = {}) =>
  async (app: TestApp): Promise<Partial<Asked>> => ({
    ...asked,
    headers: { Authorization: `Bearer ${await adminToken(app)}` },
  });
const invite = (usesLeft: number | null): object => ({
  _id: expect.stringMatching(/^[0-9a-f]{24}$/),
  code: expect.stringMatching(/^[0-9A-Za-z]{20}$/),
  usesLeft,
  createdAt: new Date(NOW).toISOString(),
});

export const createRegistrationInvites: readonly WireCase[] = [
  {
    title: 'creates two single-use invites',
    ask: asAdmin({ body: { multiple: 2 } }),
    status: 201,
    body: { invites: [invite(1), invite(1)] },
    everywhere: true,
  },
  {
    title: 'creates one invite for unlimited uses',
    ask: asAdmin({ body: { multiple: 1, unlimitedUse: true, usesLeft: 7 } }),
    status: 201,
    body: { invites: [invite(null)] },
  },
  { title: 'rejects a user who is not an administrator', ask: { body: { multiple: 1 } }, ...FORBIDDEN },
];

export const listRegistrationInvites: readonly WireCase[] = [
  {
    title: 'lists no invites at first',
    ask: asAdmin(),
    status: 200,
    body: {
      invites: [],
      pagination: { page: 1, limit: 20, total: 0, pages: 0, totalPages: 0, hasNext: false, hasPrev: false },
    },
  },
  { title: 'rejects a user who is not an administrator', ...FORBIDDEN },
];

export const deleteRegistrationInvites: readonly WireCase[] = [
  {
    title: 'deletes an invite, also a deleted one',
    ask: asAdmin({ body: { ids: ['0'.repeat(24)] } }),
    status: 200,
    body: { success: true, message: 'The invites are deleted' },
  },
  {
    title: 'rejects a user who is not an administrator',
    ask: { body: { ids: ['0'.repeat(24)] } },
    ...FORBIDDEN,
  },
];
