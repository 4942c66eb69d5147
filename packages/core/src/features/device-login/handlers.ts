import { type ApiRequest, header } from '../../contract/message.ts';
import type { Reply } from '../../contract/reply.ts';
import { USERS } from '../../identity/records.ts';
import type { AccessTokens } from '../../identity/tokens.ts';
import { requireUnlimited } from '../../operations/gate.ts';
import { serverUrl } from '../../operations/openapi/servers.ts';
import { defineRoute, type Route } from '../../operations/route.ts';
import { ApiError, type OAuthErrorCode } from '../../shared/errors.ts';
import { getClient } from '../sign-in/client.ts';
import { secretly } from '../sign-in/handlers.ts';
import { takeSlots } from '../sign-in/limits.ts';
import { renewTokens, type SignedInServices } from '../sign-in/signed-in.ts';
import type { Tokens } from '../sign-in/token-families.ts';
import {
  describeDeviceLogin,
  initiateDeviceLogin,
  pollDeviceLogin,
  renewDeviceTokens,
  verifyDeviceLogin,
  type WireDevice,
  type WireTokens,
} from './contract.ts';
import { type DeviceLogins, INTERVAL_SECONDS, LIFE_SECONDS, type Polled } from './logins.ts';
import type { DeviceLoginRecord } from './records.ts';

export interface DeviceLoginServices extends SignedInServices {
  readonly deviceLogins: DeviceLogins;
  readonly publicUrl: string | undefined;
  /** The page for user codes. Absent: the page of the console below `publicUrl`. */
  readonly deviceVerificationUrl: string | undefined;
}

const MAX_USER_AGENT = 200;

/** `POST /api/oauth/device/initiate` */
export function createInitiateDeviceLoginHandler(services: DeviceLoginServices): Route {
  return defineRoute(initiateDeviceLogin, services, async ({ body }, { request }) => {
    await takeSlots(services, ['deviceFrom', getClient(request.remoteAddress)]);
    const { deviceCode, userCode } = await services.deviceLogins.begin({
      clientId: body.client_id,
      userAgent: getUserAgent(request),
      address: request.remoteAddress ?? null,
    });
    const page = new URL(services.deviceVerificationUrl ?? `${getBase(services, request)}/device`);
    const complete = new URL(page);
    complete.searchParams.set('code', userCode);
    return secretly({
      device_code: deviceCode,
      user_code: userCode,
      verification_uri: page.href,
      verification_uri_complete: complete.href,
      expires_in: LIFE_SECONDS,
      interval: INTERVAL_SECONDS,
    });
  });
}

/** `POST /api/oauth/device/token` */
export function createPollDeviceLoginHandler(services: DeviceLoginServices): Route {
  const users = services.store.collection(USERS);
  return defineRoute(pollDeviceLogin, services, async ({ body }) => {
    const polled = await services.deviceLogins.poll(body.device_code, body.client_id);
    if (polled.kind !== 'approved') throw toRefusal(polled.kind);
    const { userId, tokenVersion } = polled;
    // Disabled, deleted or signed out since the approval.
    const user = await users.get(userId, { tokenVersion, disabled: false });
    if (user === undefined) throw toRefusal('denied');
    return granted(services, await services.tokenFamilies.begin(user));
  });
}

/** `POST /api/oauth/refresh` */
export function createRenewDeviceTokensHandler(services: DeviceLoginServices): Route {
  return defineRoute(renewDeviceTokens, services, async ({ body }) => {
    const renewed = await renewTokens(services, body.refresh_token);
    if (renewed === undefined) {
      throw new ApiError(401, 'The refresh token is invalid, expired, used or revoked', {
        oauthCode: 'invalid_grant',
      });
    }
    return granted(services, renewed.tokens);
  });
}

/** `POST /api/oauth/device/lookup` */
export function createDescribeDeviceLoginHandler(services: DeviceLoginServices): Route {
  return defineRoute(describeDeviceLogin, services, async ({ body }, { caller, request }) => {
    await takeGuess(services, caller.userId, request);
    const login = await services.deviceLogins.find(body.user_code);
    if (login === undefined) throw invalidCode();
    return { device_info: toWireDevice(login) };
  });
}

/** `POST /api/oauth/device/verify` */
export function createVerifyDeviceLoginHandler(services: DeviceLoginServices): Route {
  const users = services.store.collection(USERS);
  return defineRoute(verifyDeviceLogin, services, async ({ body }, { caller, request }) => {
    if (body.action === 'approve') requireUnlimited(caller);
    await takeGuess(services, caller.userId, request);
    const user = await users.get(caller.userId);
    if (user === undefined) throw new ApiError(401, 'Invalid or expired token');
    const login = await services.deviceLogins.decide(body.user_code, {
      status: body.action === 'approve' ? 'approved' : 'denied',
      userId: user.id,
      tokenVersion: user.tokenVersion,
    });
    if (login === undefined) throw invalidCode();
    return { success: true as const, device_info: toWireDevice(login) };
  });
}

/** Bounds the guessing of user codes. @throws ApiError 429. */
async function takeGuess(services: DeviceLoginServices, userId: string, request: ApiRequest): Promise<void> {
  const client = getClient(request.remoteAddress);
  await takeSlots(services, ['deviceCodeBy', userId], ['deviceCodeFrom', client]);
}

/** The page must be absolute, because it is opened on another machine. */
function getBase({ publicUrl }: DeviceLoginServices, request: ApiRequest): string {
  const base = serverUrl(publicUrl, request);
  return URL.canParse(base) ? base : `${request.protocol}://localhost${request.mountPath}`;
}

function getUserAgent({ headers }: ApiRequest): string | null {
  const plain =
    header(headers, 'user-agent')
      ?.replaceAll(/[^\x20-\x7e]/g, '')
      .trim() ?? '';
  return plain === '' ? null : plain.slice(0, MAX_USER_AGENT);
}

const REFUSALS = {
  unknown: [400, 'invalid_grant', 'The device code is unknown or was used'],
  expired: [400, 'expired_token', 'The device code has expired; start again'],
  pending: [400, 'authorization_pending', 'The user has not decided yet'],
  'too-fast': [400, 'slow_down', 'Wait 5 seconds longer between polls'],
  denied: [403, 'access_denied', 'The user refused the login'],
} as const satisfies Record<
  Exclude<Polled['kind'], 'approved'>,
  readonly [status: number, code: OAuthErrorCode, message: string]
>;

function toRefusal(kind: keyof typeof REFUSALS): ApiError {
  const [status, oauthCode, message] = REFUSALS[kind];
  return new ApiError(status, message, { oauthCode });
}

function invalidCode(): ApiError {
  return new ApiError(404, 'The code is wrong, decided or expired', { oauthCode: 'invalid_code' });
}

function granted({ tokens }: { readonly tokens: AccessTokens }, issued: Tokens): Reply {
  const body: WireTokens = {
    access_token: issued.accessToken,
    refresh_token: issued.refreshToken,
    token_type: 'Bearer',
    expires_in: tokens.lifetimes.access,
  };
  return secretly(body);
}

function toWireDevice(login: DeviceLoginRecord): WireDevice {
  return {
    client_id: login.clientId,
    user_agent: login.userAgent,
    ip_address: login.address,
    requested_at: new Date(login.createdAt).toISOString(),
    expires_at: new Date(login.expiresAt).toISOString(),
  };
}
