import { noLinks } from '../access/links.ts';
import { createBudgets } from '../credits/budgets.ts';
import { createHoldHeartbeat } from '../credits/hold-heartbeat.ts';
import { createSettlementRetries } from '../credits/settlement-retries.ts';
import { createAgentEvents } from '../features/agents/events.ts';
import { withAgentLinks } from '../features/agents/mentions.ts';
import { createAgentReach } from '../features/agents/reach.ts';
import { withArtifactLinks } from '../features/artifacts/access.ts';
import { withLakeLinks } from '../features/data-lakes/access.ts';
import { createLakeSearch } from '../features/data-lakes/lake-search.ts';
import { withFileLinks } from '../features/files/links.ts';
import { DEFAULT_GENERATION_SETTINGS } from '../features/media-jobs/settings.ts';
import { createAdministrationCheck, createMembershipCheck } from '../features/organizations/membership.ts';
import { createModelLists } from '../features/organizations/model-lists.ts';
import { DEFAULT_STORAGE_QUOTAS } from '../features/storage/usage.ts';
import { createWebhookReceivers } from '../features/webhooks/receivers.ts';
import { createJobSlots } from '../jobs/job-slots.ts';
import { watchJobs } from '../jobs/job-watch.ts';
import { createStoreQueue } from '../jobs/store-queue.ts';
import { DEFAULT_WORKER_SETTINGS } from '../jobs/worker-settings.ts';
import { createSystemClock } from '../memory/clock.ts';
import { createIds } from '../memory/ids.ts';
import { createMemoryPublisher } from '../memory/publisher.ts';
import { createMemoryVectors } from '../memory/vectors.ts';
import { watchUsageReports } from '../models/usage-records.ts';
import { joinObservers } from '../observability/joined.ts';
import { instrumentLedger } from '../observability/ledger.ts';
import { instrumentProvider } from '../observability/models.ts';
import type { Observer } from '../observability/observer.ts';
import { propagateContext } from '../observability/queue.ts';
import { createAdminSettingsReader } from '../operations/admin-settings.ts';
import { createAdmissionControl } from '../operations/admission-control.ts';
import { createAuditLog } from '../operations/audit-log.ts';
import { createDeletionCleanup } from '../operations/deletion.ts';
import { createIdempotency } from '../operations/idempotency.ts';
import { createOpenStreams } from '../operations/open-streams.ts';
import { createPaidCalls } from '../operations/paid-calls.ts';
import { DEFAULT_RATE_LIMITS } from '../operations/rates.ts';
import { builtInPrompt } from '../prompts/prompt.ts';
import { createClaimedQuests } from '../runs/claimed-quests.ts';
import { createLiveFollowers } from '../runs/live-followers.ts';
import { createLiveTails } from '../runs/live-tails.ts';
import { createQuestEvents } from '../runs/quest-events.ts';
import { createRunningQuests } from '../runs/running.ts';
import { createStoreEventLog } from '../runs/store-event-log.ts';
import { createWorkLine, DEFAULT_LINE_SETTINGS } from '../runs/work-line.ts';
import { joinToolRegistries } from '../tools/toolbox.ts';
import { wireAudit } from './audit.ts';
import { checkModelNames } from './check-models.ts';
import { findArchiveIssues, findPortIssues } from './check-ports.ts';
import { findSettingIssues } from './check-settings.ts';
import { ConfigurationError } from './configuration-error.ts';
import { wireEvents } from './events.ts';
import { FEATURES } from './features.ts';
import { wireFiles } from './files.ts';
import { wireIdentity } from './identity.ts';
import { wireModels } from './models.ts';
import type { Ports } from './ports.ts';
import { quietly } from './report.ts';
import { createRoutes } from './routes.ts';
import { secretBytes } from './secrets.ts';
import { createOperationCheck } from './selection.ts';
import type { BaseServices, Services } from './services.ts';
import type { Settings } from './settings.ts';

const REQUEST_TIMEOUT_MS = 60_000;
const MAX_LIVE_EXECUTIONS = 3;
const INLINE_AUDIO_BYTES = 4 * 2 ** 20;

/**
 * Creates the services from ports and settings. Starts nothing. All handlers, `createUser` and `issueApiKey` use them.
 * @throws ConfigurationError that lists every invalid option with the expected and the given value.
 * @example
 * const ports = { ...createMemoryPorts(), models: [createDemoProvider()] };
 * const services = createServices(ports, { jwtSecret, admin: { enforceCredits: false } });
 */
export function createServices(ports: Ports, settings: Settings): Services {
  const issues = [
    ...findPortIssues(ports),
    ...findSettingIssues(settings),
    ...findArchiveIssues(ports, settings),
  ];
  if (issues.length > 0) throw new ConfigurationError(issues);
  checkModelNames(settings, ports.models);
  const { limiter } = ports;
  const observer = joinObservers(settings.observers ?? []);
  const { models, ...observedParts } = observedPorts(ports, observer);
  const clock = ports.clock ?? createSystemClock();
  const ids = ports.ids ?? createIds();
  const onError = watchUsageReports(quietly(settings.onError), { store: ports.store, clock, observer });
  const given = ports.queue ?? createStoreQueue({ store: ports.store, clock, ids });
  const observed =
    observer?.getTraceContext === undefined ? given : propagateContext(given, observer.getTraceContext);
  const { queue, jobWatch } = watchJobs(observed, { clock, onError });
  const worker = { ...DEFAULT_WORKER_SETTINGS, ...settings.worker };
  const webhookReceivers = ports.webhooks && createWebhookReceivers({ store: ports.store, clock, onError });
  const budgets = createBudgets({ store: ports.store, clock });
  const { chargeEvents, ...evented } = wireEvents(
    {
      store: ports.store,
      ledger: observedParts.ledger,
      queue,
      clock,
      budgets,
      webhookReceivers,
      graceMs: worker.leaseMs,
      onError,
    },
    settings,
  );
  const { store, ledger } = wireAudit({ ...evented, clock });
  const publisher =
    ports.publisher ??
    createMemoryPublisher({ onError: (error) => onError({ operation: 'publish', requestId: '', error }) });
  const eventLog = ports.eventLog ?? createStoreEventLog({ store: ports.store, clock });
  const liveFollowers = createLiveFollowers(
    { store, publisher, clock, onError },
    ports.publisher !== undefined,
  );
  const adminSettings = createAdminSettingsReader({ store, clock, defaults: settings.admin ?? {} });
  const agentReach = createAgentReach({ store, adminSettings });
  const isMember = createMembershipCheck(store);
  const modelLists = createModelLists(store, settings.planModels ?? {});
  const secret = secretBytes(settings.sessionSecret ?? settings.jwtSecret);
  const common = { store, queue, clock, ids, adminSettings, onError, secret };
  const base: BaseServices = {
    ...wireFiles(common, ports, settings),
    ...wireIdentity({ ...common, ledger, publisher, isMember, modelLists }, ports, settings),
    ...wireModels({ ...common, providers: models }, settings),
    store,
    ledger,
    unaudited: { store: evented.store, ledger: evented.ledger },
    budgets,
    heartbeat: createHoldHeartbeat({ ledger, clock, onError }),
    settlementRetries: createSettlementRetries({ clock, ids, onError }),
    limiter,
    queue,
    jobWatch,
    jobSlots: createJobSlots(),
    claimedQuests: createClaimedQuests(),
    publisher,
    eventLog,
    liveFollowers,
    liveTails: createLiveTails({ store, eventLog, publisher, clock, liveFollowers, onError }),
    runningQuests: createRunningQuests(),
    admissionControl: createAdmissionControl(),
    workLine: createWorkLine({ store, queue, clock }, { ...DEFAULT_LINE_SETTINGS, ...settings.admission }),
    streams: createOpenStreams(clock),
    idempotency: createIdempotency({ store, clock }),
    questEvents: createQuestEvents({ publisher, clock, onError }),
    agentEvents: createAgentEvents({ publisher, clock, onError, agentReach }),
    agentReach,
    fallbacks: settings.fallbacks ?? {},
    promptCache: settings.promptCache ?? 'auto',
    skills: settings.skills ?? [],
    voices: settings.voices ?? [],
    whatsNew: settings.whatsNew,
    enrichment: settings.enrichment === true,
    retention: settings.retention ?? {},
    keepNewest: settings.keepNewest ?? {},
    chargeArchive: settings.chargeArchive,
    deletion: createDeletionCleanup(
      { store, queue, clock },
      FEATURES.flatMap(({ deletion }) => deletion ?? []),
    ),
    web: ports.web ?? {},
    vectors: ports.vectors ?? createMemoryVectors(),
    lakeEmbeddingModel: settings.dataLakes?.embeddingModel,
    storageQuotas: { ...DEFAULT_STORAGE_QUOTAS, ...settings.storageQuotas },
    links: withLakeLinks(
      { store, isMember },
      withArtifactLinks({ store }, withAgentLinks(agentReach, withFileLinks(store, noLinks))),
    ),
    isMember,
    modelLists,
    administers: createAdministrationCheck(store),
    requestTimeoutMs: settings.requestTimeoutMs ?? REQUEST_TIMEOUT_MS,
    maxLiveExecutions: settings.maxLiveExecutions ?? MAX_LIVE_EXECUTIONS,
    generations: { ...DEFAULT_GENERATION_SETTINGS, ...settings.generations },
    inlineAudioMaxBytes: settings.inlineAudioMaxBytes ?? INLINE_AUDIO_BYTES,
    clock,
    ids,
    deviceVerificationUrl: settings.deviceVerificationUrl,
    ...(ports.mailer !== undefined && { mailer: ports.mailer }),
    appName: settings.appName ?? 'Questline',
    defaultTheme: settings.defaultTheme ?? 'system',
    adminSettings,
    auditLog: createAuditLog({ store: ports.store, clock, ids }),
    auditRetentionDays: settings.auditRetentionDays ?? null,
    limits: { ...DEFAULT_RATE_LIMITS, ...settings.rateLimits },
    paidCalls: createPaidCalls({ limiter, clock, adminSettings, perDay: settings.paidCallsPerDay }),
    setupCode: settings.setupCode,
    completions: { insufficientCreditsStatus: 422, metaEvent: true, deltas: true, ...settings.completions },
    worker,
    unknownPaths: settings.unknownPaths ?? 'pass',
    rootAliases: settings.rootAliases ?? true,
    publicUrl: settings.publicUrl,
    docsBundle: settings.docsBundle,
    ...(observer !== undefined && { observer }),
    onEvent: settings.onEvent,
    ...(chargeEvents !== undefined && { chargeEvents }),
    eventGraceMs: worker.leaseMs,
    ...(ports.webhooks !== undefined && { webhookSender: ports.webhooks }),
    ...(webhookReceivers !== undefined && { webhookReceivers }),
    onError,
  };
  const services: Services = {
    ...base,
    operations: settings.operations,
    hasOperation: createOperationCheck(settings.operations, () => createRoutes(services)),
    promptSources: [
      builtInPrompt(settings.systemPrompt),
      ...FEATURES.flatMap(({ promptSources }) => promptSources?.(base) ?? []),
    ],
    followUps: FEATURES.flatMap(({ followUps }) => followUps?.(base) ?? []),
    eventListeners: FEATURES.flatMap(({ eventListeners }) => eventListeners?.(base) ?? []),
    lakeSearch: createLakeSearch(base),
    sessionListeners: FEATURES.flatMap(({ sessionListeners }) => sessionListeners?.(base) ?? []),
    toolRegistry: joinToolRegistries(
      [...FEATURES.flatMap(({ tools }) => tools?.(base) ?? []), ...(settings.tools ?? [])],
      (error) => onError({ operation: 'tools', requestId: '', error }),
    ),
  };
  return services;
}

/** Instruments the ports if an observer is configured. */
function observedPorts(
  { ledger, models }: Ports,
  observer: Observer | undefined,
): Pick<Ports, 'ledger' | 'models'> {
  const { credit, modelCall } = observer ?? {};
  return {
    ledger: credit === undefined ? ledger : instrumentLedger(ledger, credit),
    models: modelCall === undefined ? models : models.map((one) => instrumentProvider(one, modelCall)),
  };
}
