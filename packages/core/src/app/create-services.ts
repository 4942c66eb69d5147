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
import { plainTextExtractor } from '../features/data-lakes/plain-text.ts';
import { createDeviceLogins } from '../features/device-login/logins.ts';
import { createDocumentReader, DEFAULT_DOCUMENT_SETTINGS } from '../features/files/documents.ts';
import { createFileLibrary } from '../features/files/library.ts';
import { withFileLinks } from '../features/files/links.ts';
import { createLocalModerator } from '../features/files/moderation/local.ts';
import { createObjectLinks } from '../features/files/objects-links.ts';
import { createFilesReader } from '../features/files/reader.ts';
import { getFileSettings } from '../features/files/settings.ts';
import { watchUploads } from '../features/files/uploads.ts';
import { DEFAULT_GENERATION_SETTINGS } from '../features/media-jobs/settings.ts';
import { createAdministrationCheck, createMembershipCheck } from '../features/organizations/membership.ts';
import { createModelLists } from '../features/organizations/model-lists.ts';
import { createChallenges } from '../features/sign-in/challenges.ts';
import { createSignInGuards } from '../features/sign-in/guards.ts';
import { createHostAccounts } from '../features/sign-in/host-accounts.ts';
import { DEFAULT_SIGN_IN_LIMITS } from '../features/sign-in/limits.ts';
import { createPendingTokens } from '../features/sign-in/pending-tokens.ts';
import { createTokenFamilies } from '../features/sign-in/token-families.ts';
import { DEFAULT_STORAGE_QUOTAS } from '../features/storage/usage.ts';
import { createWebhookReceivers } from '../features/webhooks/receivers.ts';
import { createAuthenticator } from '../identity/credentials.ts';
import {
  createHostCallers,
  DEFAULT_IDENTITY_SETTINGS,
  type IdentitySettings,
} from '../identity/host-callers.ts';
import { createAccessTokens, DEFAULT_TOKEN_LIFETIMES } from '../identity/tokens.ts';
import { createJobSlots } from '../jobs/job-slots.ts';
import { watchJobs } from '../jobs/job-watch.ts';
import { createStoreQueue } from '../jobs/store-queue.ts';
import { DEFAULT_WORKER_SETTINGS } from '../jobs/worker-settings.ts';
import { createSystemClock } from '../memory/clock.ts';
import { createIds } from '../memory/ids.ts';
import { createMemoryObjects } from '../memory/objects.ts';
import { createMemoryPublisher } from '../memory/publisher.ts';
import { createMemoryVectors } from '../memory/vectors.ts';
import { limitCatalogues } from '../models/allowed-models.ts';
import { createCircuitBreaker } from '../models/breaker.ts';
import { type CatalogueOptions, createCatalogue } from '../models/catalogue.ts';
import { createSecretBox } from '../models/secret-box.ts';
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
import type { Ports } from './ports.ts';
import { quietly } from './report.ts';
import { createRoutes } from './routes.ts';
import { deriveTextKey, getOwnKeys, secretBytes } from './secrets.ts';
import { createOperationCheck } from './selection.ts';
import type { BaseServices, Services } from './services.ts';
import type { Settings } from './settings.ts';

const REQUEST_TIMEOUT_MS = 60_000;
const MAX_WRONG_CODES_PER_DAY = 50;
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
  const web = ports.web ?? {};
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
  const tokens = createAccessTokens(secretBytes(settings.jwtSecret), clock, {
    ...DEFAULT_TOKEN_LIFETIMES,
    ...settings.tokenLifetimes,
  });
  const sessionSecret = secretBytes(settings.sessionSecret ?? settings.jwtSecret);
  const objects = ports.objects ?? createMemoryObjects();
  const objectLinks = createObjectLinks({
    objects,
    secret: sessionSecret,
    publicUrl: settings.publicUrl,
  });
  const fileSettings = getFileSettings(settings.files);
  const moderator = ports.moderator === undefined ? createLocalModerator() : ports.moderator;
  const library = createFileLibrary({
    store,
    queue,
    moderator,
    objects,
    objectLinks,
    clock,
    ids,
    adminSettings,
    storageQuota: fileSettings.storageQuota,
    onError,
  });
  const catalogueOptions: CatalogueOptions = {
    providers: models,
    ...(settings.models !== undefined && { overrides: settings.models }),
    ...(settings.hideModel !== undefined && { hidden: settings.hideModel }),
    ...(settings.creditsPerUsd !== undefined && { creditsPerUsd: settings.creditsPerUsd }),
    clock,
  };
  const catalogue = createCatalogue(catalogueOptions);
  const own =
    settings.secretEncryptionKey === undefined
      ? undefined
      : getOwnKeys(settings.secretEncryptionKey, {
          store,
          clock,
          ids,
          catalogue,
          options: catalogueOptions,
          onError: (error) => onError({ operation: 'provider-key', requestId: '', error }),
        });
  const textBox = own?.secretBox ?? createSecretBox(deriveTextKey(sessionSecret), ids);
  const getCatalogue = limitCatalogues(catalogue, own?.ownModels);
  const breaker = createCircuitBreaker(clock);
  const vectors = ports.vectors ?? createMemoryVectors();
  const extractors = [...(ports.extractors ?? []), plainTextExtractor];
  const documents = createDocumentReader({
    store,
    clock,
    extractors,
    plainText: plainTextExtractor,
    settings: { ...DEFAULT_DOCUMENT_SETTINGS, ...settings.documents },
  });
  const files = createFilesReader({ store, library, documents, onError });
  const lakeEmbeddingModel = settings.dataLakes?.embeddingModel;
  const { identity } = ports;
  const hostCallers =
    identity &&
    createHostCallers({
      identity,
      settings: getIdentitySettings(settings),
      clock,
      findAccount: createHostAccounts({ store, ledger, clock, ids, adminSettings, isMember, modelLists }),
    });
  const authenticator = createAuthenticator({
    store,
    clock,
    tokens,
    publisher,
    hostCallers,
    modelLists,
    onError: (error) => onError({ operation: 'authenticate', requestId: '', error }),
  });
  const base: BaseServices = {
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
    textBox,
    breaker,
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
    web,
    objects,
    objectLinks,
    moderator,
    uploadWatches: [watchUploads({ store, queue })],
    library,
    files,
    vectors,
    extractors,
    documents,
    lakeEmbeddingModel,
    fileSettings,
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
    tokens,
    challenges: createChallenges({
      store,
      clock,
      ids,
      pendingTokens: createPendingTokens(sessionSecret),
    }),
    deviceLogins: createDeviceLogins({ store, clock, ids, secret: sessionSecret }),
    deviceVerificationUrl: settings.deviceVerificationUrl,
    ...(ports.mailer !== undefined && { mailer: ports.mailer }),
    appName: settings.appName ?? 'Questline',
    defaultTheme: settings.defaultTheme ?? 'system',
    authenticator,
    catalogue,
    getCatalogue,
    ...own,
    providers: models,
    adminSettings,
    auditLog: createAuditLog({ store: ports.store, clock, ids }),
    auditRetentionDays: settings.auditRetentionDays ?? null,
    limits: { ...DEFAULT_RATE_LIMITS, ...settings.rateLimits },
    paidCalls: createPaidCalls({ limiter, clock, adminSettings, perDay: settings.paidCallsPerDay }),
    guards: createSignInGuards(
      { store, clock },
      sessionSecret,
      settings.maxWrongCodesPerDay ?? MAX_WRONG_CODES_PER_DAY,
    ),
    tokenFamilies: createTokenFamilies({
      store,
      clock,
      ids,
      tokens,
      forgetUser: (userId) => authenticator.forgetUser(userId),
    }),
    setupCode: settings.setupCode,
    signInLimits: { ...DEFAULT_SIGN_IN_LIMITS, ...settings.signInLimits },
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

function getIdentitySettings({ identity, publicUrl }: Settings): IdentitySettings {
  const given = { ...DEFAULT_IDENTITY_SETTINGS, ...identity };
  if (publicUrl === undefined) return given;
  return { ...given, allowedOrigins: [...given.allowedOrigins, new URL(publicUrl).origin] };
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
