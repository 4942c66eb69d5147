import { ApiError } from '../errors.ts';
import { rulesFor } from '../identity/abilities.ts';
import { USERS } from '../identity/records.ts';
import type { AccessTokens } from '../identity/tokens.ts';
import type { PipelineServices } from '../pipeline.ts';
import type { Store } from '../ports/store.ts';
import { defineRoute, type Route } from '../route.ts';
import { toWireUser } from '../users/wire.ts';
import { identify, logOut, refreshTokens } from './contract.ts';
import { secretly, signTokens } from './handlers.ts';
import { type SignInLimits, takeSlot } from './limits.ts';

export interface SignedInServices extends PipelineServices {
  readonly store: Store;
  readonly tokens: AccessTokens;
  readonly signInLimits: SignInLimits;
}

/** `POST /api/auth/refreshToken` */
export function createRefreshTokensHandler(services: SignedInServices): Route {
  const { store, tokens } = services;
  const users = store.collection(USERS);
  return defineRoute(refreshTokens, services, async ({ body }) => {
    const token = body.refreshToken ?? body.refresh_token ?? body.token ?? '';
    const claims = await tokens.verify(token, 'refresh');
    if (claims === undefined) throw badToken();
    await takeSlot(services, 'refresh', claims.id);
    const { tokenVersion } = claims;
    const user = await users.get(claims.id, { tokenVersion, disabled: false });
    if (user === undefined) throw badToken();
    return secretly({ user: toWireUser(user), ...(await signTokens(tokens, user)) });
  });
}

/** `GET /api/identify` */
export function createIdentifyHandler(services: SignedInServices): Route {
  const { store, tokens } = services;
  const users = store.collection(USERS);
  return defineRoute(identify, services, async (_input, { caller }) => {
    const user = await users.get(caller.userId);
    if (user === undefined) throw badToken();
    const { accessToken } = await signTokens(tokens, user);
    return {
      user: toWireUser(user),
      permissions: rulesFor({ userId: user.id, isAdmin: user.isAdmin }),
      accessToken,
    };
  });
}

/** `GET /api/logout`: everywhere, because a token is good wherever it is. */
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
