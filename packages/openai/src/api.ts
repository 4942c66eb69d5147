import { ApiError, type ApiRequest, type ApiResponse, type Mountable, type Route } from '@questline/core';
import { below, getRequestId } from '@questline/core/bridge';
import {
  baseHeaders,
  createRouter,
  type EmbeddingsServices,
  type ModelsServices,
  refuse,
} from '@questline/core/internal';
import { type AudioRouteServices, audioRoutes } from './audio.ts';
import { type ChatServices, createChatCompletionHandler } from './chat/handlers.ts';
import { createEmbeddingsRoute } from './embeddings.ts';
import { openAIErrors } from './errors.ts';
import { type FileRouteServices, fileRoutes } from './files.ts';
import { type ImageRouteServices, imageRoutes } from './images.ts';
import { modelRoutes } from './models.ts';
import { withRateHeaders } from './rate-headers.ts';

/** The services of `createOpenAIApi`; `createServices` of `@questline/core` returns them. */
export interface OpenAIApiServices
  extends ChatServices,
    ModelsServices,
    EmbeddingsServices,
    AudioRouteServices,
    FileRouteServices,
    ImageRouteServices {}

export interface OpenAIApiOptions {
  /** The path below the mount, for hosts that do not mount by path. Default: none. */
  readonly basePath?: `/${string}`;
}

/**
 * Creates the OpenAI API over the services of Questline: the same credentials, limits, budgets and credits as its own API.
 * Mount it at `/openai`; clients use the base URL `https://<host>/openai/v1`. Every path below the mount is answered;
 * at the root of a host, only those below `/v1/`.
 * @example
 * app.use('/openai', toExpress(createOpenAIApi(services)));
 */
export function createOpenAIApi(services: OpenAIApiServices, { basePath }: OpenAIApiOptions = {}): Mountable {
  const routes: Route[] = [
    createChatCompletionHandler(services),
    ...modelRoutes(services),
    createEmbeddingsRoute(services),
    ...imageRoutes(services),
    ...audioRoutes(services),
    ...fileRoutes(services),
  ];
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
    return unknownPath(requestId);
  }

  return {
    async handle(request) {
      const response = await answer(request);
      return response && withRateHeaders(response, services.clock.now());
    },
  };
}

function unknownPath(requestId: string): ApiResponse {
  const { status, body } = openAIErrors(new ApiError(404, 'Unknown path'), requestId);
  return {
    status,
    headers: { 'X-Request-ID': requestId, 'Content-Type': 'application/json; charset=utf-8' },
    body: JSON.stringify(body),
  };
}
