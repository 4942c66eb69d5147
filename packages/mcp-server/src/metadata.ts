import { defineRoute, type Mountable, type Services } from '@questline/core';
import { describeMcpResource } from './operations.ts';

/** Who issues the tokens that `identity` accepts. */
export interface McpAuthorization {
  /** The public address of the mount of `createMcpApi`, such as `https://ai.example.com/mcp`. */
  readonly resource: string;
  /** The issuers of the authorization servers. */
  readonly servers: readonly string[];
  /** The scopes that clients ask for. Default: those of the authorization server. */
  readonly scopes?: readonly string[];
}

/**
 * Creates the metadata of RFC 9728 at the path that clients derive from the address of the resource, such as
 * `/.well-known/oauth-protected-resource/mcp`. Mount it at the root of the host; it leaves all other paths to the host.
 * @example
 * app.use(toExpress(createMcpMetadata(services, authorization)));
 */
export function createMcpMetadata(services: Services, authorization: McpAuthorization): Mountable {
  const { path: prefix } = describeMcpResource;
  const path = `${prefix}${new URL(authorization.resource).pathname.replace(/\/+$/, '')}`;
  const route = createMetadataHandler(services, authorization);
  return {
    async handle(request) {
      const isAsked = request.path === path && ['GET', 'HEAD'].includes(request.method);
      return isAsked ? route.run(request, {}) : undefined;
    },
  };
}

export function createMetadataHandler(services: Services, { resource, servers, scopes }: McpAuthorization) {
  return defineRoute(describeMcpResource, services, async () => ({
    resource,
    authorization_servers: servers,
    bearer_methods_supported: ['header'],
    resource_name: services.appName,
    ...(scopes !== undefined && { scopes_supported: scopes }),
  }));
}

/** The `WWW-Authenticate` header of a refusal. */
export function getChallenge({ resource, scopes }: McpAuthorization): string {
  const metadata = `resource_metadata="${resource.replace(/\/+$/, '')}${describeMcpResource.path}"`;
  return scopes === undefined ? `Bearer ${metadata}` : `Bearer ${metadata}, scope="${scopes.join(' ')}"`;
}
