import { createDeviceLogins } from '../features/device-login/logins.ts';
import { createChallenges } from '../features/sign-in/challenges.ts';
import { createSignInGuards } from '../features/sign-in/guards.ts';
import { createHostAccounts } from '../features/sign-in/host-accounts.ts';
import { DEFAULT_SIGN_IN_LIMITS } from '../features/sign-in/limits.ts';
import { createPendingTokens } from '../features/sign-in/pending-tokens.ts';
import { createTokenFamilies } from '../features/sign-in/token-families.ts';
import { createAuthenticator } from '../identity/credentials.ts';
import {
  createHostCallers,
  DEFAULT_IDENTITY_SETTINGS,
  type IdentitySettings,
} from '../identity/host-callers.ts';
import { createAccessTokens, DEFAULT_TOKEN_LIFETIMES } from '../identity/tokens.ts';
import type { Ports } from './ports.ts';
import { secretBytes } from './secrets.ts';
import type { BaseServices } from './services.ts';
import type { Settings } from './settings.ts';

const MAX_WRONG_CODES_PER_DAY = 50;

type Wiring = Pick<
  BaseServices,
  'store' | 'ledger' | 'clock' | 'ids' | 'publisher' | 'adminSettings' | 'isMember' | 'modelLists' | 'onError'
> & {
  /** Signs what belongs to a session of sign-in. */
  readonly secret: Uint8Array;
};

/** Creates the services that know callers and let users in. */
export function wireIdentity(
  { secret, onError, ...wiring }: Wiring,
  { identity }: Ports,
  settings: Settings,
) {
  const { store, clock, ids, publisher, modelLists } = wiring;
  const lifetimes = { ...DEFAULT_TOKEN_LIFETIMES, ...settings.tokenLifetimes };
  const tokens = createAccessTokens(secretBytes(settings.jwtSecret), clock, lifetimes);
  const hostCallers =
    identity &&
    createHostCallers({
      identity,
      settings: getIdentitySettings(settings),
      clock,
      findAccount: createHostAccounts(wiring),
    });
  const authenticator = createAuthenticator({
    store,
    clock,
    tokens,
    publisher,
    hostCallers,
    modelLists,
    onError: (error) => onError({ operation: 'authenticate', requestId: '', error }),
  });
  const pendingTokens = createPendingTokens(secret);
  const maxWrongCodes = settings.maxWrongCodesPerDay ?? MAX_WRONG_CODES_PER_DAY;
  return {
    tokens,
    authenticator,
    challenges: createChallenges({ store, clock, ids, pendingTokens }),
    deviceLogins: createDeviceLogins({ store, clock, ids, secret }),
    guards: createSignInGuards({ store, clock }, secret, maxWrongCodes),
    tokenFamilies: createTokenFamilies({
      store,
      clock,
      ids,
      tokens,
      forgetUser: (userId) => authenticator.forgetUser(userId),
    }),
    signInLimits: { ...DEFAULT_SIGN_IN_LIMITS, ...settings.signInLimits },
  } satisfies Partial<BaseServices>;
}

function getIdentitySettings({ identity, publicUrl }: Settings): IdentitySettings {
  const given = { ...DEFAULT_IDENTITY_SETTINGS, ...identity };
  if (publicUrl === undefined) return given;
  return { ...given, allowedOrigins: [...given.allowedOrigins, new URL(publicUrl).origin] };
}
