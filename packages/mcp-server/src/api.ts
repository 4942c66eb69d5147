import type { Mountable, OperationSelection, Route, Services } from '@questline/core';
import { createRoutes, createWire, selectRoutes } from '@questline/core/internal';
import { createReadFileTextHandler } from './file-text.ts';
import { rpcErrors } from './json-rpc.ts';
import { createMessageHandler } from './messages.ts';
import { createMetadataHandler, getChallenge, type McpAuthorization } from './metadata.ts';
import { createSkillHandlers } from './skills/handlers.ts';
import { createTools } from './tools/catalogue.ts';

/** Clients give up a call after 60 seconds. */
const MAX_WAIT_MS = 45_000;

export interface McpApiOptions {
  /** The path below the mount, for hosts that do not mount by path. Default: none. */
  readonly basePath?: `/${string}`;
  /** Where the host mounts the API: the prefix of links to files. Default: none. */
  readonly apiPath?: `/${string}`;
  /** The operations that tools may use, as in `createApi`. Default: all that the setting `operations` leaves. */
  readonly operations?: OperationSelection;
  /** Origins whose pages may send messages, in addition to the own host; `*`: all. Default: none. */
  readonly allowedOrigins?: '*' | readonly string[];
  /**
   * Hosts by which clients call the server, such as `ai.example.com` or `localhost:3000`; without a port: any port.
   * Messages with another `Host` are refused. Name them where the server is reached without a proxy. Default: all.
   */
  readonly allowedHosts?: readonly string[];
  /** The longest that a tool waits for work, in milliseconds. Default 45,000. */
  readonly maxWaitMs?: number;
  /** The version that clients see. Default `1`. */
  readonly version?: string;
  /** Points clients without a credential to an authorization server. Default: clients are given a key. */
  readonly authorization?: McpAuthorization;
}

/**
 * Creates a server of the Model Context Protocol over the services of Questline: its tools call the operations of the API
 * with the credential of the caller. Mount it at `/mcp`, beside an api that works the jobs.
 * @throws ConfigurationError for unknown names in `operations`.
 * @example
 * app.use('/mcp', toExpress(createMcpApi(services)));
 */
export function createMcpApi(services: Services, options: McpApiOptions = {}): Mountable {
  const { basePath, apiPath = '', allowedOrigins = [], allowedHosts, authorization } = options;
  const selected = selectRoutes(createRoutes(services), services.operations, options.operations);
  const routes = new Map<string, Route>(selected.map((route) => [route.operation.id, route]));
  // Without the files of the API, their text is not offered either.
  if (routes.has('getFile')) routes.set('readFileText', createReadFileTextHandler(services));
  if (routes.has('listSkills')) {
    for (const route of createSkillHandlers(services)) routes.set(route.operation.id, route);
  }
  const parts = {
    services,
    routes,
    tools: createTools(routes),
    info: { name: 'questline', title: services.appName, version: options.version ?? '1' },
    maxWaitMs: options.maxWaitMs ?? MAX_WAIT_MS,
  };
  return createWire(services, {
    routes: [
      createMessageHandler(parts, {
        apiPath,
        allowedOrigins: allowedOrigins === '*' ? '*' : new Set(allowedOrigins),
        allowedHosts: allowedHosts === undefined ? '*' : new Set(allowedHosts),
      }),
      ...(authorization === undefined ? [] : [createMetadataHandler(services, authorization)]),
    ],
    basePath,
    errorFormat: rpcErrors,
    complete(response) {
      if (response.status !== 401 || authorization === undefined) return response;
      return {
        ...response,
        headers: { ...response.headers, 'WWW-Authenticate': getChallenge(authorization) },
      };
    },
  });
}
