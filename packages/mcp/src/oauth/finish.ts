import { randomUUID } from 'node:crypto';
import { exchangeAuthorization } from '@modelcontextprotocol/client';
import type { FlowParts } from './begin.ts';
import { toSafeError } from './fetch.ts';
import type { AuthorizedServer } from './options.ts';
import { toPlace } from './vault.ts';

/** What the authorization server has passed to the redirect URL. */
export interface AuthorizationAnswer {
  readonly state: string;
  readonly code?: string | undefined;
  readonly iss?: string | undefined;
  /** The reason of a refusal. */
  readonly error?: string | undefined;
}

/** Why an authorization cannot be finished. */
export class AuthorizationRefused extends Error {
  override readonly name = 'AuthorizationRefused';
}

/**
 * Exchanges the code for tokens, and keeps them. Each authorization can be finished once, by the user who has begun it.
 * @returns the id of the tool server. @throws AuthorizationRefused
 */
export async function finishAuthorization(
  { options, vault, fetchFor }: FlowParts,
  servers: readonly AuthorizedServer[],
  userId: string,
  { state, code, iss, error }: AuthorizationAnswer,
): Promise<string> {
  const begun = await vault.take(state, userId);
  const server = servers.find(({ id, url }) => id === begun?.serverId && url === begun.value.serverUrl);
  if (begun === undefined || server === undefined) {
    throw new AuthorizationRefused('The authorization is unknown, finished or expired. Begin again.');
  }
  if (code === undefined) {
    const reason = error !== undefined && /^[a-z_]{1,50}$/.test(error) ? error : 'no code';
    throw new AuthorizationRefused(`The authorization server refused: ${reason}`);
  }
  const { authorizationServer, client, resource, verifier, discovery, scope } = begun.value;
  const metadata = discovery.authorizationServerMetadata;
  try {
    if (metadata === undefined && iss !== undefined && !isSame(iss, authorizationServer)) {
      throw new Error('the answer names another issuer');
    }
    const tokens = await exchangeAuthorization(authorizationServer, {
      ...(metadata !== undefined && { metadata }),
      clientInformation: client,
      authorizationCode: code,
      codeVerifier: verifier,
      redirectUri: options.redirectUrl,
      fetchFn: fetchFor(server),
      ...(iss !== undefined && { iss }),
      ...(resource !== undefined && { resource }),
    });
    const granted = tokens.scope ?? scope;
    await vault.save(toPlace(server, userId), {
      ...{ serverUrl: server.url, authorizationServer, client, resource, grant: randomUUID() },
      tokens: { ...tokens, ...(granted !== undefined && { scope: granted }) },
    });
    return server.id;
  } catch (cause) {
    throw Object.assign(
      new AuthorizationRefused('The authorization server did not accept the code. Begin again.'),
      { cause: toSafeError(cause) },
    );
  }
}

/** The SDK compares the issuer with the metadata; a server without metadata is its address. */
function isSame(issuer: string, authorizationServer: string): boolean {
  return issuer.replace(/\/$/, '') === authorizationServer.replace(/\/$/, '');
}
