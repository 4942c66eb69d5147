import * as z from 'zod';
import { emailAddress } from '../http/email.ts';
import { text } from '../http/text.ts';
import { defineOperation } from '../operation.ts';
import { wireUser } from '../users/wire.ts';

const pendingToken = z.string().meta({ description: 'Signed, for one use, bound to the e-mail address.' });
const tokens = { accessToken: z.string(), refreshToken: z.string() };

const open = {
  method: 'POST',
  auth: 'none',
  scopes: [],
  rate: { key: 'unlimited', user: 'unlimited' },
  owner: 'none',
  family: 'application',
} as const;

export const sendCode = defineOperation({
  ...open,
  id: 'sendSignInCode',
  path: '/api/otc/send',
  summary: 'Mail a one-time code',
  input: { body: z.object({ email: emailAddress }) },
  output: {
    200: { description: 'Alike for every address.', schema: z.object({ pendingToken }) },
  },
  refusals: [
    { status: 429, description: 'A mail went there within 30 s, or 5 from here within 15 min.' },
    { status: 503, description: 'The mail could not be handed over.' },
  ],
});

export const verifyCode = defineOperation({
  ...open,
  id: 'verifySignInCode',
  path: '/api/otc/verify',
  summary: 'Sign in or register with a one-time code',
  input: {
    body: z.object({
      email: emailAddress,
      code: text({ max: 20 }),
      pendingToken: text({ max: 500 }),
      username: z
        .string()
        .trim()
        .pipe(text({ min: 1, max: 100 }))
        .optional(),
      inviteCode: text({ max: 100 }).optional(),
    }),
  },
  output: {
    200: {
      description: 'Signed in, registered, or asked for a user name.',
      schema: z.union([
        wireUser.extend(tokens),
        z.object({ user: wireUser, ...tokens }),
        z.object({ registrationRequired: z.literal(true), email: z.string(), pendingToken }),
      ]),
    },
  },
  refusals: [
    { status: 403, description: 'Registration is closed, or the account is disabled.' },
    { status: 422, description: 'The code or the token does not hold.' },
    { status: 429, description: '10 tries within 15 min.' },
  ],
});

const token = text({ max: 4000 }).optional();

export const refreshTokens = defineOperation({
  ...open,
  id: 'refreshTokens',
  path: '/api/auth/refreshToken',
  summary: 'Exchange a refresh token for new tokens',
  input: { body: z.object({ token, refreshToken: token, refresh_token: token }) },
  output: { 200: { description: 'New ones.', schema: z.object({ user: wireUser, ...tokens }) } },
  refusals: [{ status: 401, description: 'No refresh token that is still good.' }],
});

const own = {
  method: 'GET',
  auth: 'token',
  scopes: [],
  rate: { key: 'unlimited', user: 'application' },
  owner: 'caller',
  family: 'application',
  input: {},
} as const;

const rule = z.object({
  action: z.string(),
  subject: z.string(),
  conditions: z.record(z.string(), z.union([z.string(), z.boolean()])).optional(),
});

export const identify = defineOperation({
  ...own,
  id: 'identify',
  path: '/api/identify',
  summary: 'Who is signed in, and what they may do',
  output: {
    200: {
      description: 'The user, with a fresh access token.',
      schema: z.object({ user: wireUser, permissions: z.array(rule), accessToken: z.string() }),
    },
  },
});

export const logOut = defineOperation({
  ...own,
  id: 'logOut',
  path: '/api/logout',
  summary: 'End every token of the user',
  output: { 200: { description: 'They are ended.', schema: z.object({ message: z.string() }) } },
});
