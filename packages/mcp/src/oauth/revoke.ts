import {
  assertSecureTokenEndpoint,
  discoverAuthorizationServerMetadata,
  selectClientAuthMethod,
} from '@modelcontextprotocol/client';
import type { FlowParts } from './begin.ts';
import { getClient } from './client.ts';
import { toSafeError, withDeadline } from './fetch.ts';
import type { AuthorizedServer } from './options.ts';
import type { Credential } from './vault.ts';

/** How long a user waits for the revocation, in milliseconds. */
const LIMIT_MS = 5000;

/**
 * Asks the authorization server to end tokens that are already deleted here (RFC 7009). Never rejects: a failure is
 * reported.
 */
export async function revokeTokens(
  { fetchFor, onError }: FlowParts,
  server: AuthorizedServer,
  credential: Credential,
): Promise<void> {
  const { authorizationServer, tokens } = credential;
  const fetchFn = withDeadline(fetchFor(server), LIMIT_MS);
  try {
    const metadata = await discoverAuthorizationServerMetadata(authorizationServer, { fetchFn });
    // Metadata of OpenID providers has these fields without a type.
    const { revocation_endpoint: endpoint, revocation_endpoint_auth_methods_supported: own } = (metadata ??
      {}) as Readonly<Record<string, unknown>>;
    if (typeof endpoint !== 'string') return;
    const url = assertSecureTokenEndpoint(endpoint);
    const client = getClient(server, credential.client);
    const method = selectClientAuthMethod(
      client,
      Array.isArray(own) ? own : (metadata?.token_endpoint_auth_methods_supported ?? []),
    );
    for (const [hint, token] of [
      ['refresh_token', tokens.refresh_token],
      ['access_token', tokens.access_token],
    ] as const) {
      if (token === undefined) continue;
      const { status, body } = await fetchFn(url, {
        method: 'POST',
        redirect: 'manual',
        ...toRequest({ token, token_type_hint: hint }, client, method),
      });
      await body?.cancel();
      if (status !== 200) onError(new Error(`the ${hint} was not revoked: status ${status}`), server.id);
    }
  } catch (error) {
    onError(toSafeError(error), server.id);
  }
}

/** The form with the identification of the client. */
function toRequest(
  form: Readonly<Record<string, string>>,
  { client_id: id, client_secret: secret = '' }: ReturnType<typeof getClient>,
  method: ReturnType<typeof selectClientAuthMethod>,
) {
  const headers = { 'content-type': 'application/x-www-form-urlencoded' };
  if (method === 'client_secret_basic') {
    const basic = Buffer.from(`${id}:${secret}`).toString('base64');
    return { headers: { ...headers, authorization: `Basic ${basic}` }, body: new URLSearchParams(form) };
  }
  const own = method === 'client_secret_post' ? { client_id: id, client_secret: secret } : { client_id: id };
  return { headers, body: new URLSearchParams({ ...form, ...own }) };
}
