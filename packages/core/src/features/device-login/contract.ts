import * as z from 'zod';
import { defineOperation } from '../../contract/operation.ts';
import { text } from '../../contract/text.ts';

/** Public clients have no secret, so the id only names what asks; RFC 6749 leaves its form to the server. */
const CLIENT_ID = /^[A-Za-z0-9](?:[A-Za-z0-9._:/@-]{0,98}[A-Za-z0-9])?$/;

const clientId = z
  .string()
  .regex(CLIENT_ID, 'expected 1 to 100 letters, digits and ._:/@-')
  .meta({ description: 'Names the client: 1 to 100 letters, digits and `._:/@-`. The approver sees it.' });

const userCode = text({ min: 1, max: 50 }).meta({
  description: 'The code that the device shows, in any case, with or without the dash.',
});

const grantType = <T extends string>(value: T) =>
  z.literal(value).meta({ description: `Always \`${value}\`.` });

const tokens = z.object({
  access_token: z.string().meta({ description: 'For the header `Authorization: Bearer`.' }),
  refresh_token: z
    .string()
    .meta({ description: 'For `POST /api/oauth/refresh`, once. Each answer contains a new one.' }),
  token_type: z.literal('Bearer').meta({ description: 'Always `Bearer`.' }),
  expires_in: z.int().min(1).meta({ description: 'Lifetime of the access token in seconds.' }),
});

const device = z
  .object({
    client_id: z.string().meta({ description: 'The name that the client gave.' }),
    user_agent: z
      .string()
      .nullable()
      .meta({ description: 'The `User-Agent` header of its request, at most 200 characters.' }),
    ip_address: z.string().nullable().meta({ description: 'The network address of its request.' }),
    requested_at: z.iso.datetime().meta({ description: 'The time of its request.' }),
    expires_at: z.iso.datetime().meta({ description: 'The time at which the code expires.' }),
  })
  .meta({
    description: 'What asks to be signed in, and from where. The client chose its name and user agent.',
  });

export type WireTokens = z.input<typeof tokens>;
export type WireDevice = z.input<typeof device>;

const open = {
  tag: 'Sign-in',
  method: 'POST',
  auth: 'none',
  scopes: [],
  rate: { key: 'unlimited', user: 'unlimited' },
  owner: 'none',
  family: 'oauth',
  // OAuth clients send forms (RFC 6749, section 3.2; RFC 8628, section 3.1).
  bodyType: 'json-or-form',
  bodyFault: { status: 400, applicationCode: 'VALIDATION_ERROR' },
} as const;

export const initiateDeviceLogin = defineOperation({
  ...open,
  id: 'initiateDeviceLogin',
  path: '/api/oauth/device/initiate',
  summary: 'Start to sign in a device',
  description:
    'The device authorization request of RFC 8628. Show `user_code` and `verification_uri` to the user, then poll ' +
    '`POST /api/oauth/device/token` every `interval` seconds.',
  input: { body: z.object({ client_id: clientId }) },
  output: {
    200: {
      description: 'The codes of this login.',
      schema: z.object({
        device_code: z.string().meta({ description: 'The secret of the device, for its polls.' }),
        user_code: z.string().meta({ description: 'The code for the user, e.g. `BDWP-HQPK`.' }),
        verification_uri: z.string().meta({ description: 'The page on which the user enters the code.' }),
        verification_uri_complete: z
          .string()
          .meta({ description: 'The same page with the code filled in, e.g. for a QR code.' }),
        expires_in: z.int().min(1).meta({ description: 'Lifetime of both codes in seconds.' }),
        interval: z.int().min(1).meta({ description: 'Minimum seconds between two polls.' }),
      }),
    },
  },
  refusals: [{ status: 429, description: 'More than 20 logins started by one client address in 15 min.' }],
});

export const pollDeviceLogin = defineOperation({
  ...open,
  id: 'pollDeviceLogin',
  path: '/api/oauth/device/token',
  summary: 'Poll for the tokens of a device login',
  description: 'The device access token request of RFC 8628. An approved login returns its tokens once.',
  input: {
    body: z.object({
      grant_type: grantType('urn:ietf:params:oauth:grant-type:device_code'),
      device_code: text({ min: 1, max: 200 }).meta({ description: 'The secret of the device.' }),
      client_id: clientId,
    }),
  },
  output: { 200: { description: 'The user approved: the tokens.', schema: tokens } },
  refusals: [
    {
      status: 400,
      description:
        '`authorization_pending`: keep polling. `slow_down`: the same, and wait 5 seconds longer from now on. ' +
        '`expired_token`: start again. `invalid_grant`: the code is unknown or was used.',
    },
    { status: 403, description: '`access_denied`: the user refused.' },
  ],
});

export const renewDeviceTokens = defineOperation({
  ...open,
  id: 'renewDeviceTokens',
  path: '/api/oauth/refresh',
  summary: 'Exchange a refresh token for new tokens, as an OAuth client',
  description: 'Takes and answers the field names of OAuth 2.0. Each refresh token can be exchanged once.',
  input: {
    body: z.object({
      grant_type: grantType('refresh_token'),
      refresh_token: text({ max: 4000 }).meta({ description: 'The refresh token of the newest answer.' }),
      client_id: clientId,
    }),
  },
  output: { 200: { description: 'New tokens.', schema: tokens } },
  refusals: [
    { status: 401, description: '`invalid_grant`: the refresh token is invalid, expired, used or revoked.' },
    { status: 429, description: 'More than 60 exchanges of one user in a minute.' },
  ],
});

const decided = {
  tag: 'Sign-in',
  method: 'POST',
  auth: 'token',
  scopes: [],
  rate: { key: 'unlimited', user: 'application' },
  owner: 'none',
  family: 'oauth',
  bodyFault: { status: 400, applicationCode: 'VALIDATION_ERROR' },
  refusals: [
    { status: 404, description: '`invalid_code`: the code is wrong, decided or expired.' },
    {
      status: 429,
      description: 'More than 20 codes submitted by the user, or 60 by the client address, in 15 min.',
    },
  ],
} as const;

export const describeDeviceLogin = defineOperation({
  ...decided,
  id: 'describeDeviceLogin',
  path: '/api/oauth/device/lookup',
  summary: 'Get what asks to be signed in, before a decision',
  description: 'Shows the signed-in user which device asks, before the user approves or denies it.',
  input: { body: z.object({ user_code: userCode }) },
  output: { 200: { description: 'The device.', schema: z.object({ device_info: device }) } },
});

export const verifyDeviceLogin = defineOperation({
  ...decided,
  id: 'verifyDeviceLogin',
  path: '/api/oauth/device/verify',
  summary: 'Approve or refuse the login of a device',
  description: 'An approved device gets tokens of the caller. A login is decided once.',
  input: {
    body: z.object({
      user_code: userCode,
      action: z
        .enum(['approve', 'deny'])
        .meta({ description: '`approve` signs the device in as the caller.' }),
    }),
  },
  output: {
    200: {
      description: 'The decision is stored.',
      schema: z.object({
        success: z.literal(true).meta({ description: 'Always true.' }),
        device_info: device,
      }),
    },
  },
});
