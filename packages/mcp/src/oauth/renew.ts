import {
  discoverAuthorizationServerMetadata,
  OAuthError,
  OAuthErrorCode,
  refreshAuthorization,
} from '@modelcontextprotocol/client';
import { clientKey, type FlowParts } from './begin.ts';
import { getClient } from './client.ts';
import { toSafeError, withDeadline } from './fetch.ts';
import type { AuthorizedServer } from './options.ts';
import { revokeTokens } from './revoke.ts';
import { type Credential, type Place, type Stored, toPlace } from './vault.ts';

/** Less than the reservation of the renewal: two processes must not send one refresh token. */
const LIMIT_MS = 20_000;
const POLL_MS = 100;
const POLLS = 100;
/** The authorization server has ended the grant, or does not know the client. */
const ENDED: readonly string[] = [
  OAuthErrorCode.InvalidGrant,
  OAuthErrorCode.InvalidClient,
  OAuthErrorCode.UnauthorizedClient,
];

/**
 * Gets another token than the refused one. Only one process uses a refresh token, because many servers end the grant when
 * it is used twice. @param refused the access token. Rejects if there is no other one.
 */
export async function renewTokens(
  parts: FlowParts,
  server: AuthorizedServer,
  userId: string,
  refused: string | undefined,
): Promise<void> {
  const { vault } = parts;
  const place = toPlace(server, userId);
  for (let poll = 0; poll < POLLS; poll += 1) {
    const stored = await vault.get(place);
    if (stored === undefined) throw new Error('the user has not authorized the tool server');
    const { tokens } = stored.value;
    if (tokens.access_token !== refused) return;
    if (tokens.refresh_token === undefined) {
      await vault.remove(place, stored.record.version);
      throw new Error('the tool server has ended the authorization');
    }
    if (await vault.reserve(stored.record)) return renew(parts, server, place, stored, tokens.refresh_token);
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
  throw new Error('another process did not renew the tokens in time');
}

async function renew(
  parts: FlowParts,
  server: AuthorizedServer,
  place: Place,
  stored: Stored<Credential>,
  refreshToken: string,
): Promise<void> {
  const { authorizationServer, client, resource, tokens } = stored.value;
  const { options, vault } = parts;
  const fetchFn = withDeadline(parts.fetchFor(server), LIMIT_MS);
  try {
    const metadata = await discoverAuthorizationServerMetadata(authorizationServer, { fetchFn });
    const next = await refreshAuthorization(authorizationServer, {
      ...(metadata !== undefined && { metadata }),
      clientInformation: getClient(server, client),
      refreshToken,
      fetchFn,
      ...(resource !== undefined && { resource: new URL(resource) }),
    });
    const value = { ...stored.value, tokens: { ...tokens, ...next } };
    const isKept = await vault.renew(place, { record: stored.record, value });
    // Not after a new authorization: some servers would end that one, too.
    if (!isKept && (await vault.get(place)) === undefined) await revokeTokens(parts, server, value);
  } catch (error) {
    if (!(error instanceof OAuthError) || !ENDED.includes(error.code)) {
      await vault.release(stored.record);
      throw toSafeError(error);
    }
    await vault.remove(place, stored.record.version);
    if (error.code !== OAuthErrorCode.InvalidGrant) {
      await vault.removeClient(...clientKey(options, server, client.issuer ?? ''));
    }
    throw toSafeError(error);
  }
}
