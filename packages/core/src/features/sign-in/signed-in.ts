import { toCredits } from '../../credits/amounts.ts';
import { rulesFor } from '../../identity/abilities.ts';
import { USERS, type UserRecord } from '../../identity/records.ts';
import type { AccessTokens } from '../../identity/tokens.ts';
import type { PipelineServices } from '../../operations/pipeline.ts';
import { defineRoute, type Route } from '../../operations/route.ts';
import type { CreditLedger } from '../../ports/ledger.ts';
import type { Store } from '../../ports/store.ts';
import { ApiError } from '../../shared/errors.ts';
import { toWireUser } from '../organizations/wire.ts';
import { identify, logOut, refreshTokens } from './contract.ts';
import { secretly } from './handlers.ts';
import { type SignInLimits, takeSlots } from './limits.ts';
import type { TokenFamilies, Tokens } from './token-families.ts';

export interface SignedInServices extends PipelineServices {
  readonly store: Store;
  readonly tokens: AccessTokens;
  readonly signInLimits: SignInLimits;
  readonly tokenFamilies: TokenFamilies;
  readonly defaultTheme: string;
}

/** `POST /api/auth/refreshToken` */
export function createRefreshTokensHandler(services: SignedInServices): Route {
  return defineRoute(refreshTokens, services, async ({ body }) => {
    const renewed = await renewTokens(services, body.refreshToken ?? body.refresh_token ?? body.token ?? '');
    if (renewed === undefined) throw badToken();
    const { user, tokens } = renewed;
    return secretly({ user: toWireUser(user, services.defaultTheme), ...tokens });
  });
}

/**
 * Exchanges a refresh token.
 * @returns undefined for an invalid, expired, used or revoked token. @throws ApiError 429.
 */
export async function renewTokens(
  services: SignedInServices,
  token: string,
): Promise<{ readonly user: UserRecord; readonly tokens: Tokens } | undefined> {
  const claims = await services.tokens.verify(token, 'refresh');
  if (claims === undefined) return undefined;
  await takeSlots(services, ['refresh', claims.id]);
  const { tokenVersion } = claims;
  const user = await services.store.collection(USERS).get(claims.id, { tokenVersion, disabled: false });
  if (user === undefined) return undefined;
  const tokens = await services.tokenFamilies.rotate(user, claims, token);
  return tokens && { user, tokens };
}

/** `GET /api/identify` */
export function createIdentifyHandler(services: SignedInServices & { readonly ledger: CreditLedger }): Route {
  const { store, tokens } = services;
  const users = store.collection(USERS);
  return defineRoute(identify, services, async (_input, { caller }) => {
    const user = await users.get(caller.userId);
    if (user === undefined) throw badToken();
    if (caller.kind !== 'token' || caller.session === undefined) throw badToken();
    const { id, tokenVersion } = user;
    const [accessToken, { available }] = await Promise.all([
      tokens.sign({ id, tokenVersion, typ: 'access', ...caller.session }),
      services.ledger.balance(`user:${id}`),
    ]);
    return {
      user: { ...toWireUser(user, services.defaultTheme), currentCredits: toCredits(available) },
      permissions: rulesFor({ userId: user.id, isAdmin: user.isAdmin }),
      accessToken,
    };
  });
}

/** `GET /api/logout`: everywhere, because tokens are not bound to a device. */
export function createLogOutHandler(services: SignedInServices): Route {
  const users = services.store.collection(USERS);
  return defineRoute(logOut, services, async (_input, { caller }) => {
    await users.add(caller.userId, { tokenVersion: 1 });
    services.authenticator.forgetUser(caller.userId);
    return { message: 'Signed out' };
  });
}

function badToken(): ApiError {
  return new ApiError(401, 'Invalid or expired token');
}
