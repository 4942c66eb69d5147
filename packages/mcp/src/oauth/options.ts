import type { Store } from '@questline/core/ports';

/** How the users of this deployment authorize tool servers with `authorize: 'oauth'`. */
export interface OAuthOptions {
  /** Keeps the tokens, encrypted. Pass the store of the services. */
  readonly store: Store;
  /** The setting `secretEncryptionKey` of the services: 64 hexadecimal characters. */
  readonly secretEncryptionKey: string;
  /**
   * Where authorization servers send the user's browser with the code: `/callback` of the mounted `createToolServersApi`, or
   * a page that passes the parameters on to it.
   */
  readonly redirectUrl: string;
  /** The name that authorization servers show to the user. Default `Questline`. */
  readonly clientName?: string;
  /**
   * The https address of the client's metadata, `/client.json` of the mounted `createToolServersApi`, for authorization servers
   * that accept such ids. Default: this deployment registers itself.
   */
  readonly clientMetadataUrl?: string;
  /**
   * Which addresses may be called because a tool server or its metadata names them. Default: those of the open internet. The
   * origin of the tool server is always allowed.
   */
  readonly isAllowedAddress?: (address: string) => boolean;
}

/** A client that was registered by hand at the authorization server of a tool server. */
export interface OAuthClient {
  readonly id: string;
  readonly secret?: string;
  /** The issuer of the authorization server; the client is used at no other one. */
  readonly issuer: string;
}

/** The tool server that a user authorizes. */
export interface AuthorizedServer {
  readonly id: string;
  readonly url: string;
  readonly client?: OAuthClient | undefined;
}

/** @throws RangeError, TypeError for wrong options. */
export function checkOAuth({ secretEncryptionKey, redirectUrl, clientMetadataUrl }: OAuthOptions): void {
  if (!/^[0-9a-f]{64}$/i.test(secretEncryptionKey)) {
    throw new RangeError('oauth.secretEncryptionKey: expected 64 hexadecimal characters');
  }
  if (!/^https?:$/.test(new URL(redirectUrl).protocol)) {
    throw new TypeError('oauth.redirectUrl: expected an http or https URL');
  }
  if (clientMetadataUrl !== undefined && new URL(clientMetadataUrl).protocol !== 'https:') {
    throw new TypeError('oauth.clientMetadataUrl: expected an https URL');
  }
}
