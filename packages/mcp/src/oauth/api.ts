import { ApiError, type Caller, defineRoute, type Mountable, Reply, type Services } from '@questline/core';
import { createWire, type ErrorFormat } from '@questline/core/internal';
import type { McpTools } from '../tools.ts';
import { type AuthorizationAnswer, AuthorizationRefused } from './finish.ts';
import type { ToolServerOAuth } from './oauth.ts';
import {
  beginToolServer,
  describeToolClient,
  disconnectToolServer,
  finishToolServer,
  finishToolServerInBrowser,
  listToolServers,
} from './operations.ts';

export interface ToolServersApiOptions {
  /** The path below the mount, for hosts that do not mount by path. Default: none. */
  readonly basePath?: `/${string}`;
  /** Called when an authorization cannot begin, for the host's log. Default: none. */
  readonly onError?: (error: unknown, serverId: string) => void;
}

/**
 * Creates the routes by which users connect the tool servers with `authorize: 'oauth'`. Mount it beside the API; only the
 * process of the API needs it.
 * @throws TypeError if the tools have no `oauth`.
 * @example
 * app.use('/tool-servers', toExpress(createToolServersApi(services, tools)));
 */
export function createToolServersApi(
  services: Services,
  { oauth }: Pick<McpTools, 'oauth'>,
  options: ToolServersApiOptions = {},
): Mountable {
  if (oauth === undefined) throw new TypeError('createToolServersApi: the tools need the option oauth');
  const { clientMetadata } = oauth;
  return createWire(services, {
    basePath: options.basePath,
    errorFormat,
    complete: (response) => response,
    routes: [
      defineRoute(listToolServers, services, async (_input, { caller }) => ({
        servers: [...(await oauth.list(caller.userId))],
      })),
      defineRoute(beginToolServer, services, async ({ params }, { caller }) => {
        const begun = await oauth.begin(caller.userId, params.id).catch((error: unknown) => {
          options.onError?.(error, params.id);
          throw new ApiError(502, `The authorization of ${params.id} cannot begin now`);
        });
        if (begun === undefined) throw new ApiError(404, 'Tool server not found');
        return { url: begun.url, expiresAt: new Date(begun.expiresAt).toISOString() };
      }),
      defineRoute(finishToolServer, services, ({ body }, { caller }) => finish(oauth, caller, body)),
      defineRoute(finishToolServerInBrowser, services, ({ query }, { caller }) =>
        finish(oauth, caller, query),
      ),
      defineRoute(disconnectToolServer, services, async ({ params }, { caller }) => {
        if (!(await oauth.disconnect(caller.userId, params.id))) {
          throw new ApiError(404, 'Tool server not found');
        }
        return new Reply(204, {}, undefined);
      }),
      ...(clientMetadata === undefined
        ? []
        : [defineRoute(describeToolClient, services, async () => ({ ...clientMetadata }))]),
    ],
  });
}

async function finish(
  oauth: ToolServerOAuth,
  { userId }: Caller,
  answer: AuthorizationAnswer,
): Promise<{ server: string }> {
  try {
    return { server: await oauth.finish(userId, answer) };
  } catch (error) {
    if (error instanceof AuthorizationRefused) throw new ApiError(400, error.message);
    throw error;
  }
}

const errorFormat: ErrorFormat = ({ status, message }, requestId) => ({
  status,
  body: { error: message, request_id: requestId },
});
