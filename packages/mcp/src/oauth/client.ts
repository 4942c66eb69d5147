import type { StoredOAuthClientInformation } from '@modelcontextprotocol/client';
import type { AuthorizedServer } from './options.ts';

/** The client of a grant, with the present secret if the host has registered it by hand. */
export function getClient({ client: given }: AuthorizedServer, stored: StoredOAuthClientInformation) {
  const { client_secret: _, ...rest } = { client_secret: undefined, ...stored };
  const isGiven = given !== undefined && given.id === stored.client_id && given.issuer === stored.issuer;
  const secret = isGiven ? given.secret : 'client_secret' in stored ? stored.client_secret : undefined;
  return { ...rest, ...(secret !== undefined && { client_secret: secret }) };
}
