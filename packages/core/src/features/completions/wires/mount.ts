import type { ApiRequest, ApiResponse, Mountable } from '../../../contract/message.ts';
import type { ErrorFormat } from '../../../contract/operation.ts';
import { below } from '../../../http/node.ts';
import { getRequestId } from '../../../http/request-id.ts';
import { baseHeaders, type PipelineServices, refuse } from '../../../operations/pipeline.ts';
import type { Route } from '../../../operations/route.ts';
import { createRouter } from '../../../operations/router.ts';
import { ApiError } from '../../../shared/errors.ts';

export interface WireOptions {
  readonly routes: readonly Route[];
  /** The path below the mount. Undefined: none. */
  readonly basePath: `/${string}` | undefined;
  readonly errorFormat: ErrorFormat;
  /** Adds the vendor's headers to every response. @param now epoch milliseconds. */
  readonly complete: (response: ApiResponse, now: number) => ApiResponse;
}

export interface WireServices extends PipelineServices {
  /** Whether the host has the operation of the API with this id. Absent: all. */
  readonly hasOperation?: (id: string) => boolean;
}

/** An API on a wire that a vendor defines, ready to mount. */
export interface WireApi extends Mountable {
  /** The routes that the API has. */
  readonly routes: readonly Route[];
}

/**
 * Routes the requests of a wire that a vendor defines: every path below the mount gets an answer in its format. Leaves out
 * the routes whose counterpart the host has switched off.
 */
export function createWire(services: WireServices, options: WireOptions): WireApi {
  const { basePath, errorFormat, complete } = options;
  const routes = options.routes.filter(
    ({ operation: { counterpart } }) =>
      counterpart === undefined || services.hasOperation?.(counterpart) !== false,
  );
  const router = createRouter(routes);

  async function answer(request: ApiRequest): Promise<ApiResponse | undefined> {
    const path = below(basePath ?? '', request.path);
    if (path === undefined) return undefined;
    const match = router.find(request.method, path);
    if (match?.kind === 'route') return match.route.run(request, match.params);
    const isRoot = basePath === undefined && request.mountPath === '';
    if (match === undefined && isRoot && !path.startsWith('/v1/')) return undefined;
    const requestId = getRequestId(request.headers, () => services.ids.requestId());
    if (match?.kind === 'method' && match.routes[0] !== undefined) {
      const { operation } = match.routes[0];
      const refusal = new ApiError(405, `${request.method} is not allowed here; use ${match.allow}`, {
        headers: { Allow: match.allow },
      });
      return refuse(operation, services, baseHeaders(operation, requestId), requestId, refusal);
    }
    return unknownPath(errorFormat, requestId);
  }

  return {
    routes,
    async handle(request) {
      const response = await answer(request);
      return response && complete(response, services.clock.now());
    },
  };
}

function unknownPath(errorFormat: ErrorFormat, requestId: string): ApiResponse {
  const { status, body } = errorFormat(new ApiError(404, 'Unknown path'), requestId);
  return {
    status,
    headers: { 'X-Request-ID': requestId, 'Content-Type': 'application/json; charset=utf-8' },
    body: JSON.stringify(body),
  };
}
