import type { ToolScope } from '@questline/core/ports';
import type { OAuthClient } from './oauth/options.ts';

interface CommonOptions {
  /** Prefix of its tool names: `[a-z0-9]`, 1 to 20 characters. */
  readonly id: string;
  /**
   * Which of its tools a run of an agent may use only when they were approved in advance. Default `unless-read-only`: all
   * that the server does not mark as read-only. Trust these marks only for servers that you trust.
   */
  readonly gated?: 'all' | 'unless-read-only' | 'none';
}

/** A server reached over streamable HTTP. */
export interface HttpServerOptions extends CommonOptions {
  readonly url: string;
  /**
   * Sent with every request, e.g. `Authorization`. A function gives the headers of one user; it is called for every turn and
   * every call, so it must be fast. If it fails, the user gets no tools of this server.
   */
  readonly headers?: Headers | ((scope: ToolScope) => Headers | Promise<Headers>);
  /**
   * Authorizes the requests of one user. `oauth`: users authorize this server themselves; needs the option `oauth` of the
   * tools. A function is called once for each user and connection.
   */
  readonly authorize?: 'oauth' | ((user: ToolUser) => UserAuthorization | Promise<UserAuthorization>);
  /** A client that is registered at the authorization server. Default: the deployment registers itself. */
  readonly client?: OAuthClient;
}

type Headers = Readonly<Record<string, string>>;

/** The user that a connection is for. */
export type ToolUser = Pick<ToolScope, 'userId'>;

/** Gives the access tokens of one user for one server, e.g. by a token exchange. */
export interface UserAuthorization {
  /** Called before each request. @returns the token, sent as `Authorization: Bearer`; undefined without a token. */
  token(): Promise<string | undefined>;
  /**
   * The server refused the token with 401. Afterwards the request is sent once more, with the result of `token()`. Rejects if
   * there is no other token. Default: a refused token is not sent again.
   */
  onUnauthorized?(refusal: Refusal): Promise<void>;
  /**
   * Begins the authorization by the user. Without a token the model is offered one tool, which returns this address.
   * @param scope what the server asks for in addition, if it refused a call for that.
   * @returns the address that the user opens in a browser.
   */
  begin?(scope?: string): Promise<string>;
}

/** The answer that refused a token. */
export interface Refusal {
  /** The token that was refused: another one may be in use already. Undefined: the request had none. */
  readonly token: string | undefined;
  readonly response: Response;
  readonly serverUrl: URL;
}

/** A server in a child process, connected over its standard streams. Its stderr is ignored. */
export interface CommandServerOptions extends CommonOptions {
  readonly command: string;
  readonly args?: readonly string[];
  /** Default: a few harmless variables of this process, no secrets. */
  readonly env?: Readonly<Record<string, string>>;
  readonly cwd?: string;
}

export type McpServerOptions = HttpServerOptions | CommandServerOptions;

const ID = /^[a-z0-9]{1,20}$/;

/** @throws RangeError for an id that is malformed or used twice; TypeError for a malformed URL. */
export function checkServers(servers: readonly McpServerOptions[]): void {
  const ids = new Set<string>();
  for (const server of servers) {
    if (!ID.test(server.id))
      throw new RangeError(`a tool server's id is 1 to 20 of a-z and 0-9, got '${server.id}'`);
    if (ids.has(server.id)) throw new RangeError(`two tool servers have the id '${server.id}'`);
    ids.add(server.id);
    if ('url' in server && !/^https?:$/.test(new URL(server.url).protocol)) {
      throw new TypeError(`the tool server '${server.id}' needs an http or https URL`);
    }
  }
}
