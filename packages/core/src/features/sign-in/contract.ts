import * as z from 'zod';
import { emailAddress } from '../../contract/email.ts';
import { defineOperation } from '../../contract/operation.ts';
import { text } from '../../contract/text.ts';
import { wireUser } from '../organizations/wire.ts';

const pendingToken = z
  .string()
  .meta({ description: 'Signed, valid for one use, bound to the e-mail address.' });
const tokens = {
  accessToken: z
    .string()
    .describe(
      'The access token: send it as `Authorization: Bearer`. It expires; use the refresh token to renew it.',
    ),
  refreshToken: z.string().describe('The refresh token. Each one can be exchanged once.'),
};

const open = {
  method: 'POST',
  auth: 'none',
  scopes: [],
  rate: { key: 'unlimited', user: 'unlimited' },
  owner: 'none',
  family: 'application',
  tag: 'Sign-in',
} as const;

export const sendCode = defineOperation({
  ...open,
  id: 'sendSignInCode',
  path: '/api/otc/send',
  summary: 'Mail a one-time code',
  description:
    'Always answers the same, so that it does not reveal who has an account. The code expires after 10 minutes.',
  input: { body: z.object({ email: emailAddress.describe('The e-mail address that gets the code.') }) },
  output: {
    200: { description: 'The same for every address.', schema: z.object({ pendingToken }) },
  },
  refusals: [
    {
      status: 429,
      description:
        'Limit of mails: 1 per client and address within 30 s, 20 per address within an hour, or 5 per client within 15 min.',
    },
    { status: 503, description: 'The mail could not be sent.' },
  ],
});

export const verifyCode = defineOperation({
  ...open,
  id: 'verifySignInCode',
  path: '/api/otc/verify',
  summary: 'Sign in or register with a one-time code',
  description:
    'Answers tokens, or `registrationRequired` for an address without an account: then repeat the request with a `username`.',
  input: {
    body: z.object({
      email: emailAddress.describe('The e-mail address that got the code.'),
      code: text({ max: 20 }).describe('The one-time code from the mail. Spaces are ignored.'),
      pendingToken: text({ max: 500 }).describe('The `pendingToken` of the answer to `sendSignInCode`.'),
      username: z
        .string()
        .trim()
        .pipe(text({ min: 1, max: 100 }))
        .optional()
        .describe('The name of a new account. Required to register; ignored for an existing account.'),
      inviteCode: text({ max: 100 })
        .optional()
        .describe('The invite code, where registration is not open, or the setup code of the first account.'),
    }),
  },
  output: {
    200: {
      description: 'Signed in, registered, or a user name is required.',
      schema: z.union([
        wireUser.extend(tokens),
        z.object({ user: wireUser.describe('The signed-in user.'), ...tokens }),
        z.object({
          registrationRequired: z
            .literal(true)
            .describe(
              'The address has no account. Repeat the request with a `username` and this `pendingToken`.',
            ),
          email: z.string().describe('The e-mail address that has no account yet.'),
          pendingToken,
        }),
      ]),
    },
  },
  refusals: [
    { status: 403, description: 'Registration is closed, or the account is disabled.' },
    { status: 422, description: 'The code or the token is invalid.' },
    { status: 429, description: '10 attempts within 15 min, or too many wrong codes for the account.' },
  ],
});

const token = text({ max: 4000 }).optional();

export const refreshTokens = defineOperation({
  ...open,
  id: 'refreshTokens',
  path: '/api/auth/refreshToken',
  summary: 'Exchange a refresh token for new tokens',
  description:
    'Each refresh token can be exchanged once, and again for 30 seconds after a lost answer. A later reuse revokes all tokens of the sign-in.',
  input: {
    body: z.object({
      token: token.describe('The refresh token. The first of three spellings wins.'),
      refreshToken: token.describe('Another spelling of `token`.'),
      refresh_token: token.describe('Another spelling of `token`.'),
    }),
  },
  output: {
    200: {
      description: 'New tokens.',
      schema: z.object({ user: wireUser.describe('The signed-in user.'), ...tokens }),
    },
  },
  refusals: [{ status: 401, description: 'The refresh token is invalid or expired.' }],
});

const own = {
  method: 'GET',
  auth: 'token',
  scopes: [],
  rate: { key: 'unlimited', user: 'application' },
  owner: 'caller',
  family: 'application',
  tag: 'Sign-in',
  input: {},
} as const;

const rule = z.object({
  action: z.string().describe('What the user may do, such as `read`.'),
  subject: z.string().describe('The kind of record that the rule is about.'),
  conditions: z
    .record(z.string(), z.union([z.string(), z.boolean()]))
    .optional()
    .describe(
      'The fields that a record must have for the rule to apply. Absent: it applies to every record.',
    ),
});

const identifiedUser = wireUser.extend({
  currentCredits: z
    .number()
    .meta({ description: "The user's credits that can be spent now, without open reservations." }),
});

export const identify = defineOperation({
  ...own,
  id: 'identify',
  path: '/api/identify',
  summary: 'Get the signed-in user and the permissions',
  description:
    'Use it at the start of an application to restore a sign-in. `permissions` tell a user interface which actions to show.',
  output: {
    200: {
      description: 'The user, with a fresh access token.',
      schema: z.object({
        user: identifiedUser.describe('The signed-in user.'),
        permissions: z.array(rule).describe('What the user may do, as rules.'),
        accessToken: z
          .string()
          .describe(
            'The access token: send it as `Authorization: Bearer`. It expires; use the refresh token to renew it.',
          ),
      }),
    },
  },
});

export const logOut = defineOperation({
  ...own,
  id: 'logOut',
  path: '/api/logout',
  changesOnGet: true,
  summary: 'Revoke every token of the user',
  description: 'Ends every sign-in of the user, in all browsers.',
  output: {
    200: {
      description: 'The tokens are revoked.',
      schema: z.object({ message: z.string().describe('A confirmation, for people.') }),
    },
  },
});
