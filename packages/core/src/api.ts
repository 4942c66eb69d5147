import { createCreditsHandler, createMeHandler, createUsageHandler } from './account/handlers.ts';
import { applicationAgentRoutes } from './agents/application.ts';
import { agentRoutes } from './agents/handlers.ts';
import { sessionAgentRoutes } from './agents/session-handlers.ts';
import { createLogEventHandler } from './analytics/handlers.ts';
import {
  createChangeApiKeyRateLimitHandler,
  createCreateApiKeyHandler,
  createListApiKeysHandler,
  createRevokeApiKeyHandler,
  createRotateApiKeyHandler,
} from './api-keys/handlers.ts';
import { artifactRoutes } from './artifacts/handlers.ts';
import { audioRoutes } from './audio/handlers.ts';
import { createChatHandler } from './chat/handlers.ts';
import { createTurnHandler } from './chat/job.ts';
import { createCompletionsHandler } from './completions/handlers.ts';
import { dataLakeRoutes } from './data-lakes/handlers.ts';
import { createIngestionHandler } from './data-lakes/ingestion.ts';
import { createForgetFileHandler, createLakePurgeHandler } from './data-lakes/purge.ts';
import { createLakeSweep } from './data-lakes/sweep.ts';
import { createEmbeddingsHandler } from './embeddings/handlers.ts';
import { createEngine, type EngineParts } from './engine/engine.ts';
import { createEnrichmentHandler } from './enrichment/job.ts';
import { ApiError } from './errors.ts';
import {
  createCancelExecutionHandler,
  createGetExecutionHandler,
  createStartExecutionHandler,
} from './executions/handlers.ts';
import { createExecutionHandler } from './executions/job.ts';
import { fileRoutes } from './files/handlers.ts';
import { createFilePurgeHandler } from './files/purge.ts';
import { createScanHandler } from './files/scan.ts';
import { createWatchHandler } from './files/watch.ts';
import { generationRoutes } from './generations/handlers.ts';
import { createGenerationHandlers } from './generations/job.ts';
import { createGenerationKeeper } from './generations/keeper.ts';
import { createHealthHandler, createPingHandler } from './health/handlers.ts';
import { errorBody } from './http/families.ts';
import type { ApiRequest, ApiResponse, Mountable } from './http/message.ts';
import { requestIdOf } from './http/request-id.ts';
import { createRouter } from './http/router.ts';
import { imageRoutes } from './images/handlers.ts';
import { createImageHandlers } from './images/job.ts';
import { createInferHandler } from './infer/handlers.ts';
import { createExpiryHandler } from './media/passing.ts';
import { mementoRoutes } from './mementos/handlers.ts';
import { createMementosHandler } from './mementos/job.ts';
import { createListMessagesHandler } from './messages/handlers.ts';
import { createApplicationModelsHandler, createModelsHandler } from './models/handlers.ts';
import { objectRoutes } from './objects/handlers.ts';
import { createDescriptionRoutes } from './openapi/handlers.ts';
import { organizationRoutes } from './organizations/handlers.ts';
import { baseHeaders, refuse } from './pipeline.ts';
import { projectRoutes } from './projects/handlers.ts';
import { providerKeyRoutes } from './provider-keys/handlers.ts';
import { createCancelQuestHandler, createGetQuestHandler } from './quests/handlers.ts';
import { createRunningQuests } from './quests/running.ts';
import { createQuestSweep } from './quests/sweep.ts';
import { hideClearCodes } from './registration-invites/codes.ts';
import {
  createCreateRegistrationInvitesHandler,
  createDeleteRegistrationInvitesHandler,
  createListRegistrationInvitesHandler,
} from './registration-invites/handlers.ts';
import type { Route } from './route.ts';
import type { Services } from './services.ts';
import {
  createCloneSessionHandler,
  createCreateSessionHandler,
  createDeleteSessionHandler,
  createGetSessionHandler,
  createListSessionsHandler,
  createUpdateSessionHandler,
} from './sessions/handlers.ts';
import { createPurgeHandler } from './sessions/purge.ts';
import { settingsRoutes } from './settings/handlers.ts';
import { sharingRoutes } from './sharing/handlers.ts';
import { createSendCodeHandler, createVerifyCodeHandler } from './sign-in/handlers.ts';
import {
  createIdentifyHandler,
  createLogOutHandler,
  createRefreshTokensHandler,
} from './sign-in/signed-in.ts';
import { subscriptionRoutes } from './subscriptions/handlers.ts';
import { createToolsHandler } from './tools/handlers.ts';
import { transcriptionRoutes } from './transcriptions/handlers.ts';
import { userRoutes } from './users/handlers.ts';

const DRAIN_MS = 10_000;

/** The whole service, ready to be mounted. */
export interface Api extends Mountable {
  readonly routes: readonly Route[];
  /**
   * Begins to do accepted work in this process. Without it the api only accepts: another process, with ports of the same
   * engine behind them, does the work.
   */
  start(): Promise<void>;
  /**
   * For the end of a process: refuses new work with 503 at once, lets what runs here end, and after `timeoutMs` (default
   * 10,000) hands the rest back to the queue and ends streams that are still open. Resolves when nothing runs here any more.
   */
  drain(timeoutMs?: number): Promise<void>;
  /** Drains without waiting, and ends what the api keeps open (idle provider connections). The host's own ports stay the host's. */
  close(): Promise<void>;
}

/** Every operation, in one readable list. */
function routesOf(services: Services): Route[] {
  return [
    createChatHandler(services),
    createCompletionsHandler(services),
    createGetQuestHandler(services),
    createCancelQuestHandler(services),
    createToolsHandler(services),
    createEmbeddingsHandler(services),
    createStartExecutionHandler(services),
    createGetExecutionHandler(services),
    createCancelExecutionHandler(services),
    createModelsHandler(services),
    createApplicationModelsHandler(services),
    createListSessionsHandler(services),
    createCreateSessionHandler(services),
    createCloneSessionHandler(services),
    createGetSessionHandler(services),
    createUpdateSessionHandler(services),
    createDeleteSessionHandler(services),
    createListMessagesHandler(services),
    ...fileRoutes(services),
    ...dataLakeRoutes(services),
    ...objectRoutes(services),
    ...projectRoutes(services),
    ...artifactRoutes(services),
    ...agentRoutes(services),
    ...applicationAgentRoutes(services),
    ...sessionAgentRoutes(services),
    createInferHandler(services),
    ...imageRoutes(services),
    ...audioRoutes(services),
    ...generationRoutes(services),
    ...transcriptionRoutes(services),
    createMeHandler(services),
    createCreditsHandler(services),
    createUsageHandler(services),
    createListApiKeysHandler(services),
    createCreateApiKeyHandler(services),
    createRotateApiKeyHandler(services),
    createRevokeApiKeyHandler(services),
    createChangeApiKeyRateLimitHandler(services),
    ...settingsRoutes(services),
    ...userRoutes(services),
    ...organizationRoutes(services),
    ...subscriptionRoutes(services),
    createLogEventHandler(services),
    ...sharingRoutes(services),
    ...ownKeysOf(services),
    ...signInOf(services),
    createRefreshTokensHandler(services),
    createIdentifyHandler(services),
    createLogOutHandler(services),
    ...mementoRoutes(services),
    createPingHandler(services),
    createHealthHandler(services),
  ];
}

/** Nobody stores a secret where there is nothing to encrypt it with. */
function ownKeysOf(services: Services): Route[] {
  const { secretBox, ownModels } = services;
  if (secretBox === undefined || ownModels === undefined) return [];
  return providerKeyRoutes({ ...services, secretBox, ownModels });
}

/** Nobody signs in by mail without a mailer: the paths belong to the host then. */
function signInOf(services: Services): Route[] {
  const { mailer } = services;
  if (mailer === undefined) return [];
  return [
    createSendCodeHandler({ ...services, mailer }),
    createVerifyCodeHandler({ ...services, mailer }),
    createListRegistrationInvitesHandler(services),
    createCreateRegistrationInvitesHandler(services),
    createDeleteRegistrationInvitesHandler(services),
  ];
}

/** Everything done without a request. */
function engineOf(services: Services): EngineParts {
  const running = createRunningQuests();
  return {
    handlers: [
      createTurnHandler(services, running),
      createExecutionHandler(services, running),
      ...createImageHandlers(services, running),
      ...createGenerationHandlers(services, running),
      createExpiryHandler(services),
      createPurgeHandler(services),
      createScanHandler(services),
      createWatchHandler(services),
      createFilePurgeHandler(services),
      createIngestionHandler(services),
      createForgetFileHandler(services),
      createLakePurgeHandler(services),
      createMementosHandler(services, running),
      createEnrichmentHandler(services, running),
    ],
    chores: [
      { name: 'sweep-holds', everyMs: 60_000, run: () => services.ledger.sweep() },
      { name: 'sweep-idempotency-keys', everyMs: 600_000, run: () => services.idempotency.sweep() },
      { name: 'sweep-sign-in-challenges', everyMs: 600_000, run: () => services.challenges.sweep() },
      {
        name: 'hide-invite-codes',
        everyMs: 600_000,
        atStart: true,
        run: () => hideClearCodes(services),
      },
      createQuestSweep(services),
      createGenerationKeeper(services),
      createLakeSweep(services),
    ],
    subscriptions: [() => services.notices.onStopped((questId) => running.stop(questId))],
    onDrained: () => services.notices.dismiss(),
  };
}

/**
 * Makes the whole api of the given services. It starts nothing by itself.
 * @param extra more routes, of the host's own operations; they follow the same pipeline and stand in the description.
 */
export function createApi(services: Services, extra: readonly Route[] = []): Api {
  const described = [...routesOf(services), ...extra];
  const operations = described.map(({ operation }) => operation);
  const routes = [...described, ...createDescriptionRoutes(services, operations)];
  const router = createRouter(routes, services);
  const engine = createEngine(services, engineOf(services));

  async function handle(request: ApiRequest): Promise<ApiResponse | undefined> {
    const match = router.find(request.method, request.path);
    if (match === undefined) return unknownPath(services, request);
    if (match.kind === 'route') return match.route.run(request, match.params);
    const requestId = requestIdOf(request.headers, () => services.ids.requestId());
    const route = match.kind === 'undecodable' ? match.route : match.routes[0];
    if (route === undefined) return undefined;
    const headers = baseHeaders(route.operation, requestId);
    if (match.kind === 'undecodable') {
      return refuse(route.operation, services, headers, requestId, new ApiError(404, 'Not found'));
    }
    if (request.method === 'OPTIONS' && route.operation.openOrigin === true)
      return preflight(headers, match.allow);
    const refusal = new ApiError(405, `${request.method} is not allowed here; use ${match.allow}`, {
      headers: { Allow: match.allow },
    });
    return refuse(route.operation, services, headers, requestId, refusal);
  }

  return {
    routes,
    handle,
    start: () => engine.start(),
    async drain(timeoutMs = DRAIN_MS) {
      await Promise.all([engine.drain(timeoutMs), services.streams.drain(timeoutMs)]);
    },
    async close() {
      await Promise.all([engine.drain(0), services.streams.drain(0)]);
      await services.authenticator.close();
      await Promise.all(services.providers.map((provider) => provider.close?.()));
    },
  };
}

function preflight(headers: Record<string, string>, allow: string): ApiResponse {
  headers['Access-Control-Allow-Methods'] = allow;
  headers['Access-Control-Allow-Headers'] = '*';
  headers['Access-Control-Max-Age'] = '86400';
  return { status: 204, headers, body: undefined };
}

/** An unknown path belongs to the host, unless the host said that everything below `/api/` is ours. */
function unknownPath(services: Services, request: ApiRequest): ApiResponse | undefined {
  if (services.unknownPaths === 'pass' || !request.path.startsWith('/api/')) return undefined;
  const requestId = requestIdOf(request.headers, () => services.ids.requestId());
  const body = errorBody('public', new ApiError(404, 'Not found'), requestId, services.clock.now());
  const headers = { 'X-Request-ID': requestId, 'Content-Type': 'application/json; charset=utf-8' };
  return { status: 404, headers, body: JSON.stringify(body) };
}
