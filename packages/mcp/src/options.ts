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
  /** Sent with every request, e.g. `Authorization`. */
  readonly headers?: Readonly<Record<string, string>>;
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
