import type { CredentialSource } from './client.ts';
import { QuestlineError } from './error.ts';
import { refreshTokens } from './operations.ts';

export interface Tokens {
  readonly accessToken: string;
  readonly refreshToken: string;
}

export interface TokenStorage {
  /** Returns the current tokens, for example from `localStorage`; undefined: not signed in. Called for each request. */
  load(): Tokens | undefined | Promise<Tokens | undefined>;
  /** Stores new tokens. `undefined`: the refresh token was rejected, and the user has to sign in again. */
  save(tokens: Tokens | undefined): void | Promise<void>;
}

/**
 * Access tokens that are renewed with their refresh token when the server rejects them. Calls of a client share one renewal. Tabs
 * with a common storage use the tokens of the tab that was first.
 */
export function createTokens({ load, save }: TokenStorage): CredentialSource {
  return async ({ rejected, call }) => {
    const tokens = await load();
    // Another call or tab has renewed it.
    if (tokens === undefined || tokens.accessToken !== rejected) return tokens?.accessToken;
    try {
      const renewed = await call(refreshTokens, { body: { token: tokens.refreshToken } });
      await save({ accessToken: renewed.accessToken, refreshToken: renewed.refreshToken });
      return renewed.accessToken;
    } catch (error) {
      if (!(error instanceof QuestlineError) || error.status !== 401) throw error;
      await save(undefined);
      return undefined;
    }
  };
}
