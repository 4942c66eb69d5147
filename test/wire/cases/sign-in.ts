import { USERS } from '@questline/core';
import { expect } from 'vitest';
import { adminToken, codeFor } from '../../support/sign-in.ts';
import type { Asked } from '../../support/wire.ts';
import { NOW, type World } from '../../support/world.ts';
import { refused, type WireCase } from './case.ts';

const SECRETLY = { 'cache-control': 'no-store' };
const A_PENDING_TOKEN = expect.stringMatching(/^[0-9a-f]{24}\.\d+\.[\w-]{43}$/);
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
  preferences: {},
  ...change,
});

const slow = (limit: number, per: string, seconds: string): Omit<WireCase, 'title' | 'ask'> => ({
  headers: { 'retry-after': seconds },
  ...refused('application', {
    status: 429,
    message: `Rate limit exceeded: ${limit} requests per ${per} allowed`,
  }),
});

export const sendSignInCode: readonly WireCase[] = [
  {
    title: 'hands out a token',
    ask: { body: { email: ' Ada@Example.com ' } },
    status: 200,
    headers: SECRETLY,
    body: { pendingToken: A_PENDING_TOKEN },
    everywhere: true,
  },
  {
    title: 'a second mail at once',
    ask: async (world) => {
      await codeFor(world, NEW);
      return { body: { email: NEW } };
    },
    ...slow(1, '30 seconds', '30'),
  },
  {
    title: 'a sixth mail from one address',
    ask: async (world) => {
      for (let count = 0; count < 5; count += 1) await codeFor(world, `a${count}@example.com`);
      return { body: { email: NEW } };
    },
    ...slow(5, '15 minutes', '900'),
  },
  {
    title: 'a second mail from one address, where the host allows one in an hour',
    world: () => ({ settings: { signInLimits: { sendFrom: { limit: 1, seconds: 3600 } } } }),
    ask: async (world) => {
      await codeFor(world, 'a@example.com');
      return { body: { email: NEW } };
    },
    ...slow(1, '60 minutes', '3600'),
  },
  {
    title: 'a mailer that fails',
    world: () => ({ mailer: () => ({ send: () => Promise.reject(new Error('smtp.internal refused')) }) }),
    ask: { body: { email: NEW } },
    headers: { 'retry-after': '30' },
    ...refused('application', { status: 503, message: 'The mail could not be sent. Try again shortly.' }),
  },
];

const verified =
  (email: string, change: object = {}) =>
  async (world: World): Promise<Partial<Asked>> => ({
    body: { ...(await codeFor(world, email)), ...change },
  });
const WRONG = 'The code is wrong or has expired';

export const verifySignInCode: readonly WireCase[] = [
  {
    title: 'signs in who has an account',
    ask: verified('ada@example.com'),
    status: 200,
    headers: SECRETLY,
    body: { ...user(), ...TOKENS },
    everywhere: true,
  },
  {
    title: 'asks somebody new for a name',
    ask: verified(NEW),
    status: 200,
    headers: SECRETLY,
    body: { registrationRequired: true, email: NEW, pendingToken: A_PENDING_TOKEN },
  },
  {
    title: 'registers, and takes nothing a server decides',
    world: () => ({ settings: { admin: { allowOpenRegistration: true } } }),
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
    title: 'a wrong code',
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
    title: 'a token of another address',
    ask: verified(NEW, { email: 'ada@example.com' }),
    ...refused('application', { status: 422, code: 'INVALID_CODE', message: WRONG }),
  },
  {
    title: 'a code that is ten minutes old',
    ask: async (world) => {
      const body = await codeFor(world, NEW);
      await world.clock.advance(600_000);
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
    title: 'registration without an invite',
    ask: verified(NEW, { username: 'Grace' }),
    ...refused('application', {
      status: 403,
      code: 'REGISTRATION_CLOSED',
      message: 'Registration needs an invite',
      extra: { pendingToken: A_PENDING_TOKEN },
    }),
  },
  {
    title: 'a disabled account',
    ask: async (world) => {
      await world.services.store.collection(USERS).update(world.user.id, { disabled: true });
      return verified('ada@example.com')(world);
    },
    ...refused('application', { status: 403, message: 'This account is disabled' }),
  },
  {
    title: 'an eleventh try from one address',
    ask: async (world) => {
      const body = { email: NEW, code: '000000', pendingToken: 'x' };
      for (let count = 0; count < 10; count += 1) {
        await world.ask('POST', '/api/otc/verify', { credential: null, body });
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
      title: `gives new tokens for the old one as ${name}`,
      ask: async ({ services, user: { id } }) => ({
        body: { [name]: await services.tokens.sign({ id, tokenVersion: 0, typ: 'refresh' }) },
      }),
      status: 200,
      headers: SECRETLY,
      body: { user: user(), ...TOKENS },
    };
  }),
  {
    title: 'an access token',
    ask: async (world) => ({ body: { token: await world.token() } }),
    ...UNAUTHORIZED,
  },
  { title: 'nothing', ask: { body: {} }, ...UNAUTHORIZED },
];

export const identify: readonly WireCase[] = [
  {
    title: 'tells who is signed in',
    status: 200,
    body: ({ user: { id } }) => ({
      user: user({ _id: id }),
      permissions: [
        { action: 'read', subject: 'User', conditions: { _id: id } },
        { action: 'update', subject: 'User', conditions: { _id: id } },
        { action: 'manage', subject: 'Session', conditions: { userId: id } },
        ...['Project', 'File', 'Artifact', 'Agent'].map((subject) => ({
          action: 'manage',
          subject,
          conditions: { ownerId: id },
        })),
        { action: 'read', subject: 'Agent', conditions: { isPublic: true } },
        { action: 'create', subject: 'Organization' },
        { action: 'manage', subject: 'Organization', conditions: { ownerId: id } },
        { action: 'manage', subject: 'Invite', conditions: { invitedBy: id } },
        { action: 'read', subject: 'Subscription', conditions: { userId: id } },
        { action: 'manage', subject: 'ApiKey', conditions: { userId: id } },
        { action: 'manage', subject: 'ProviderKey', conditions: { userId: id } },
      ],
      accessToken: A_TOKEN,
    }),
    everywhere: true,
  },
  {
    title: 'tells an administrator',
    ask: async (world) => ({ headers: { Authorization: `Bearer ${await adminToken(world)}` } }),
    status: 200,
    body: {
      user: user({ isAdmin: true }),
      permissions: [{ action: 'manage', subject: 'all' }],
      accessToken: A_TOKEN,
    },
  },
];

export const logOut: readonly WireCase[] = [
  { title: 'signs out', status: 200, body: { message: 'Signed out' }, everywhere: true },
];

const FORBIDDEN = refused('application', { status: 403, message: 'Administrators only' });
const asAdmin =
  (asked: Partial<Asked> = {}) =>
  async (world: World): Promise<Partial<Asked>> => ({
    ...asked,
    headers: { Authorization: `Bearer ${await adminToken(world)}` },
  });
const invite = (usesLeft: number | null): object => ({
  _id: expect.stringMatching(/^[0-9a-f]{24}$/),
  code: expect.stringMatching(/^[0-9A-Za-z]{20}$/),
  usesLeft,
  createdAt: new Date(NOW).toISOString(),
});

export const createRegistrationInvites: readonly WireCase[] = [
  {
    title: 'makes two for one use',
    ask: asAdmin({ body: { multiple: 2 } }),
    status: 201,
    body: { invites: [invite(1), invite(1)] },
    everywhere: true,
  },
  {
    title: 'makes one for any number of uses',
    ask: asAdmin({ body: { multiple: 1, unlimitedUse: true, usesLeft: 7 } }),
    status: 201,
    body: { invites: [invite(null)] },
  },
  { title: 'somebody else', ask: { body: { multiple: 1 } }, ...FORBIDDEN },
];

export const listRegistrationInvites: readonly WireCase[] = [
  {
    title: 'is empty at first',
    ask: asAdmin(),
    status: 200,
    body: {
      invites: [],
      pagination: { page: 1, limit: 20, total: 0, pages: 0, totalPages: 0, hasNext: false, hasPrev: false },
    },
  },
  { title: 'somebody else', ...FORBIDDEN },
];

export const deleteRegistrationInvites: readonly WireCase[] = [
  {
    title: 'deletes, also what is gone',
    ask: asAdmin({ body: { ids: ['0'.repeat(24)] } }),
    status: 200,
    body: { success: true, message: 'The invites are deleted' },
  },
  { title: 'somebody else', ask: { body: { ids: ['0'.repeat(24)] } }, ...FORBIDDEN },
];
