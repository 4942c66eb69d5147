import {
  createWire,
  type EmbeddingsServices,
  type ModelsServices,
  unknownModel,
  vendorModelRoutes,
  type WireApi,
  type WireServices,
} from '@questline/core/internal';
import { type AudioRouteServices, audioRoutes } from './audio.ts';
import { type ChatServices, createChatCompletionHandler } from './chat/handlers.ts';
import { type ConversationRouteServices, conversationRoutes } from './conversations/handlers.ts';
import { createEmbeddingsRoute } from './embeddings.ts';
import { openAIErrors } from './errors.ts';
import { type FileRouteServices, fileRoutes } from './files.ts';
import { type ImageRouteServices, imageRoutes } from './images.ts';
import { withRateHeaders } from './rate-headers.ts';
import { createResponseHandler, type ResponsesServices } from './responses/handlers.ts';
import { storedResponseRoutes } from './responses/stored-handlers.ts';

/** The services of `createOpenAIApi`; `createServices` of `@questline/core` returns them. */
export interface OpenAIApiServices
  extends WireServices,
    ChatServices,
    ResponsesServices,
    ConversationRouteServices,
    ModelsServices,
    EmbeddingsServices,
    AudioRouteServices,
    FileRouteServices,
    ImageRouteServices {
  // Several have it; this one has all of its methods.
  readonly toolRegistry: ResponsesServices['toolRegistry'];
}

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
export function createOpenAIApi(services: OpenAIApiServices, { basePath }: OpenAIApiOptions = {}): WireApi {
  return createWire(services, {
    routes: [
      createChatCompletionHandler(services),
      createResponseHandler(services),
      ...storedResponseRoutes(services),
      ...conversationRoutes(services),
      ...vendorModelRoutes(services, { vendor: 'OpenAI', errorFormat: openAIErrors, unknownModel }),
      createEmbeddingsRoute(services),
      ...imageRoutes(services),
      ...audioRoutes(services),
      ...fileRoutes(services),
    ],
    basePath,
    errorFormat: openAIErrors,
    complete: withRateHeaders,
  });
}
