import type { ApiRequest, ApiResponse, Mountable } from '../contract/message.ts';
import { createEventDelivery } from '../events/deliver.ts';
import { createEventSweep } from '../events/sweep.ts';
import { getRequestId } from '../http/request-id.ts';
import { createEngine, type EngineParts } from '../jobs/engine.ts';
import { errorBody } from '../operations/families.ts';
import type { OperationExamples } from '../operations/openapi/examples.ts';
import { createDescriptionRoutes } from '../operations/openapi/handlers.ts';
import { baseHeaders, refuse } from '../operations/pipeline.ts';
import type { Route } from '../operations/route.ts';
import { createRouter, type Match } from '../operations/router.ts';
import { createEventExpiry } from '../runs/live-expiry.ts';
import { createQuestSweep } from '../runs/sweep.ts';
import { createTextSweep } from '../runs/text-sweep.ts';
import { ApiError } from '../shared/errors.ts';
import { keepProcessAlive } from '../shared/keep-alive.ts';
import { createChargeArchiveTasks } from './charge-archive.ts';
import { FEATURES } from './features.ts';
import { createRetentionSweep } from './retention.ts';
import { createRoutes } from './routes.ts';
import { HOST, type MountedRoute, mountRoute, type OperationSelection, selectRoutes } from './selection.ts';
import type { Services } from './services.ts';

const DRAIN_MS = 10_000;

/** The parts of an API, and whether this process works. */
export interface ApiOptions {
  /**
   * Whether this process works accepted jobs by itself, from the first one it accepts. False: it only accepts, and a
   * process that called `start()` does the work. Default true.
   */
  readonly worker?: boolean;
  /**
   * The operations that the API has: `{ only: [...] }` or `{ without: [...] }`. Default: all that the setting `operations`
   * leaves.
   */
  readonly operations?: OperationSelection;
  /** Additional routes of the host. They use the same pipeline and appear in the API description. */
  readonly routes?: readonly Route[];
}

/** The API, ready to mount. */
export interface Api extends Mountable {
  /** All routes. `api.routes.join('\n')` lists the methods and paths that the API takes. */
  readonly routes: readonly MountedRoute[];
  /**
   * Starts the worker of this process now, instead of with its first accepted job: for processes that only work, and to
   * continue at once what an earlier process left.
   */
  start(): Promise<void>;
  /**
   * Graceful shutdown: rejects new work with 503 at once, keeps the process alive and waits for running work. After `timeoutMs`
   * (default 10,000) returns unfinished jobs to the queue and ends open streams. Resolves when this process runs no work.
   */
  drain(timeoutMs?: number): Promise<void>;
  /**
   * Drains without waiting, tries settlements that failed once more, for at most 5 seconds, and closes idle provider connections
   * and text extractors. Does not close the other ports; the host owns them.
   */
  close(): Promise<void>;
}

/** The recorded examples of all operations, read when a description is first built. */
async function loadExamples(): Promise<Readonly<Record<string, OperationExamples>>> {
  const files = await Promise.all(FEATURES.map(({ examples }) => examples?.()));
  // The files are recorded and compared by a test.
  return Object.assign({}, ...files.map((file) => file?.default as Record<string, OperationExamples>));
}

function engineParts(services: Services): EngineParts {
  const { chargeEvents, runningQuests: running } = services;
  const unaudited = { ...services, ...services.unaudited };
  return {
    handlers: [
      ...FEATURES.flatMap(
        ({ jobs, auditSources }) => jobs?.(auditSources === undefined ? unaudited : services, running) ?? [],
      ),
      ...(chargeEvents === undefined ? [] : createEventDelivery(services)),
    ],
    periodicTasks: [
      { name: 'sweep-holds', everyMs: 60_000, run: () => services.ledger.sweep() },
      { name: 'sweep-idempotency-keys', everyMs: 600_000, run: () => services.idempotency.sweep() },
      createQuestSweep(services),
      createTextSweep(services),
      createEventExpiry(services),
      createRetentionSweep(services),
      ...createChargeArchiveTasks(services),
      ...(chargeEvents === undefined ? [] : [createEventSweep({ ...services, chargeEvents })]),
      ...FEATURES.flatMap(({ periodicTasks }) => periodicTasks?.(services) ?? []),
    ],
    subscriptions: [
      () => services.questEvents.onStopped((questId) => running.stop(questId)),
      () => services.liveFollowers.listen(),
    ],
    onDrained() {
      services.questEvents.dismiss();
      services.liveTails.dismiss();
    },
  };
}

/**
 * Creates the API from the given services. Starts nothing before the first accepted job. The result is mounted with
 * `toNodeListener`, `toFetchHandler` or an adapter such as `@questline/express`.
 * @throws ConfigurationError for unknown names in `operations`.
 * @example
 * const api = createApi(services, { operations: { only: ['chat', 'quests'] }, routes: [greeting] });
 * createServer(toNodeListener(api)).listen(3000);
 */
export function createApi(
  services: Services,
  { worker = true, operations: selection, routes: extra = [] }: ApiOptions = {},
): Api {
  const mounted = (routes: readonly Route[], capability: string) =>
    routes.map((route) => mountRoute(route, capability, services));
  const described = [...createRoutes(services), ...mounted(extra, HOST)];
  const inDescription = (routes: readonly Route[]) =>
    mounted(
      createDescriptionRoutes(
        services,
        routes.map(({ operation }) => operation),
        loadExamples,
      ),
      'description',
    );
  // Selected twice: the names may be those of the description, which describes what is left.
  const selected = selectRoutes([...described, ...inDescription([])], services.operations, selection);
  const left = selected.filter(({ capability }) => capability !== 'description');
  const ids = new Set(selected.map(({ operation }) => operation.id));
  const routes = [...left, ...inDescription(left).filter(({ operation }) => ids.has(operation.id))];
  const router = createRouter(routes, services);
  const engine = createEngine(services, engineParts(services));
  let startsItself = worker;
  services.jobWatch.onAccepted(() => {
    if (!startsItself) return;
    // No effect while it runs.
    engine.start().catch((error: unknown) => services.onError({ operation: 'worker', requestId: '', error }));
  });

  // Not async, because every call passes it.
  function handle(request: ApiRequest): Promise<ApiResponse | undefined> {
    const match = router.find(request.method, request.path);
    return match?.kind === 'route' ? match.route.run(request, match.params) : handleOther(request, match);
  }

  async function handleOther(
    request: ApiRequest,
    match: Exclude<Match, { kind: 'route' }> | undefined,
  ): Promise<ApiResponse | undefined> {
    if (match === undefined) return unknownPath(services, request);
    const requestId = getRequestId(request.headers, () => services.ids.requestId());
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

  async function drain(timeoutMs: number): Promise<void> {
    startsItself = false;
    await Promise.all([engine.drain(timeoutMs), services.streams.drain(timeoutMs)]);
  }

  async function close(): Promise<void> {
    await drain(0);
    await services.settlementRetries.flush();
    services.ownModels?.close();
    await services.authenticator.close();
    await Promise.all([...services.providers, ...services.extractors].map((port) => port.close?.()));
  }

  return {
    routes,
    handle,
    start: engine.start,
    drain: (timeoutMs = DRAIN_MS) => keepProcessAlive(() => drain(timeoutMs)),
    close: () => keepProcessAlive(close),
  };
}

function preflight(headers: Record<string, string>, allow: string): ApiResponse {
  headers['Access-Control-Allow-Methods'] = allow;
  headers['Access-Control-Allow-Headers'] = '*';
  headers['Access-Control-Max-Age'] = '86400';
  return { status: 204, headers, body: undefined };
}

/** Leaves unknown paths to the host, unless `unknownPaths` is `not-found`. */
function unknownPath(services: Services, request: ApiRequest): ApiResponse | undefined {
  if (services.unknownPaths === 'pass' || !request.path.startsWith('/api/')) return undefined;
  const requestId = getRequestId(request.headers, () => services.ids.requestId());
  const body = errorBody('public', new ApiError(404, 'Not found'), requestId, services.clock.now());
  const headers = { 'X-Request-ID': requestId, 'Content-Type': 'application/json; charset=utf-8' };
  return { status: 404, headers, body: JSON.stringify(body) };
}
