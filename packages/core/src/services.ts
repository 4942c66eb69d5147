import { delegationTools } from './agents/delegation.ts';
import { type AgentEvents, createAgentEvents } from './agents/events.ts';
import { mentionedAgents, withAgentLinks } from './agents/mentions.ts';
import { withArtifactLinks } from './artifacts/access.ts';
import { artifactTools } from './artifacts/tool.ts';
import { builtInPrompt, type PromptSource } from './chat/prompt.ts';
import type { CompletionsSettings } from './completions/handlers.ts';
import { checkPorts, checkSettings } from './configuration.ts';
import { withLakeLinks } from './data-lakes/access.ts';
import { createAttachedReader } from './data-lakes/attached.ts';
import { sessionKnowledge } from './data-lakes/knowledge.ts';
import { knowledgeTools } from './data-lakes/knowledge-tool.ts';
import { plainTextExtractor } from './data-lakes/plain-text.ts';
import { createIntake, type Intake } from './engine/intake.ts';
import { createOpenStreams, type OpenStreams } from './engine/open-streams.ts';
import { createStoreQueue } from './engine/store-queue.ts';
import { DEFAULT_WORKER_SETTINGS, type WorkerSettings } from './engine/worker.ts';
import { enrichAfterwards } from './enrichment/job.ts';
import { createFileLibrary, type FileLibrary } from './files/library.ts';
import { withFileLinks } from './files/links.ts';
import { createLocalModerator } from './files/moderation/local.ts';
import { createFilesReader, type FilesReader } from './files/reader.ts';
import { type FileSettings, fileSettingsOf } from './files/settings.ts';
import { watchUploads } from './files/uploads.ts';
import { DEFAULT_GENERATION_SETTINGS, type GenerationSettings } from './generations/settings.ts';
import { createIdempotency, type Idempotency } from './idempotency.ts';
import { type Authenticator, createAuthenticator } from './identity/credentials.ts';
import { DEFAULT_RATE_LIMITS, type RateLimits } from './identity/rates.ts';
import { type AccessTokens, createAccessTokens } from './identity/tokens.ts';
import { createImageHook } from './images/tool.ts';
import type { Incident } from './incident.ts';
import { rememberAfterwards } from './mementos/job.ts';
import { recalledMementos } from './mementos/recall.ts';
import { createSystemClock } from './memory/clock.ts';
import { createIds } from './memory/ids.ts';
import { createMemoryObjects } from './memory/objects.ts';
import { createMemoryPublisher } from './memory/publisher.ts';
import { createMemoryVectors } from './memory/vectors.ts';
import { type Breaker, createBreaker } from './models/breaker.ts';
import {
  type CatalogueOptions,
  createCatalogue,
  type ModelCatalogue,
  type ModelOverride,
} from './models/catalogue.ts';
import { createObjectLinks, type ObjectLinks } from './objects/links.ts';
import type { UploadWatch } from './objects/uploads.ts';
import { joinObservers } from './observing/joined.ts';
import { observedLedger } from './observing/ledger.ts';
import { observedProvider } from './observing/models.ts';
import type { Observer } from './observing/observer.ts';
import { carryingQueue } from './observing/queue.ts';
import type { DocsBundle } from './openapi/handlers.ts';
import {
  type AdministrationCheck,
  createAdministrationCheck,
  createMembershipCheck,
  type MembershipCheck,
} from './organizations/membership.ts';
import type {
  Clock,
  CreditLedger,
  Ids,
  JobQueue,
  Mailer,
  ModelInfo,
  ModelProvider,
  Moderator,
  ObjectStore,
  Publisher,
  RateLimiter,
  Store,
  TextExtractor,
  VectorIndex,
  WebTools,
} from './ports/index.ts';
import { type CatalogueOf, createOwnModels, type OwnModels } from './provider-keys/own-models.ts';
import { createSecretBox, type SecretBox } from './provider-keys/secret-box.ts';
import type { FollowUp } from './quests/handler.ts';
import { createQuestNotices, type QuestNotices } from './quests/notices.ts';
import { type LinkReader, noLinks } from './sessions/links.ts';
import { type AdminSettings, createSwitches, type Switches } from './settings/admin.ts';
import { type Challenges, createChallenges } from './sign-in/challenges.ts';
import { DEFAULT_SIGN_IN_LIMITS, type SignInLimits } from './sign-in/limits.ts';
import { createPendingTokens } from './sign-in/pending-tokens.ts';
import type { Skill } from './skills/skill.ts';
import { skillTools } from './skills/tool.ts';
import { drawingTools } from './tools/builtin/drawing.ts';
import { everydayTools } from './tools/builtin/everyday.ts';
import { imageTools } from './tools/builtin/image.ts';
import { webTools } from './tools/builtin/web.ts';
import type { ToolRegistry } from './tools/registry.ts';
import { createToolbox, joinToolRegistries } from './tools/toolbox.ts';

/** What the host brings. Every port has a reference implementation in `@questline/core/memory`. */
export interface Ports {
  readonly store: Store;
  readonly ledger: CreditLedger;
  readonly limiter: RateLimiter;
  /** In order of preference: where several offer a model of one id, the first one serves it. */
  readonly models: readonly ModelProvider[];
  /** Where accepted work waits. Default: in the store. */
  readonly queue?: JobQueue;
  /** Tells other processes at once what has changed. Default: within this process; others find out by looking. */
  readonly publisher?: Publisher;
  /**
   * Sends the codes people sign in with. Default: nobody signs in here, and `/api/otc/*` and `/api/reg-invites` are not
   * part of the api: the host has accounts of its own, and gives out tokens itself.
   */
  readonly mailer?: Mailer;
  /** Where the bytes of files are. Default: in this process, which forgets them at its end. */
  readonly objects?: ObjectStore;
  /** Decides which uploads may be used. Default: `createLocalModerator()`. Null: all that are of the announced size and type. */
  readonly moderator?: Moderator | null;
  /** The tools that reach into the web. Default: none is configured. */
  readonly web?: WebTools;
  /** Where passages of data lakes are found. Default: in this process, which forgets them at its end. */
  readonly vectors?: VectorIndex;
  /** Formats that data lakes and chats can read beside plain text, Markdown, CSV and JSON: see `@questline/documents`. */
  readonly extractors?: readonly TextExtractor[];
  /** Default: the system's. */
  readonly clock?: Clock;
  /** Default: random ones from the system's strong source. */
  readonly ids?: Ids;
}

/** How the service behaves. */
export interface Settings {
  /** Signs access tokens: at least 32 bytes, or their 64 hexadecimal characters. */
  readonly jwtSecret: string | Uint8Array;
  /** Signs one-time codes and links to files, in the same form. Default: `jwtSecret`. */
  readonly sessionSecret?: string | Uint8Array;
  /**
   * Encrypts what users store and the service must read again: 64 hexadecimal characters. It must never change, or what
   * was stored is lost. Default: users cannot store provider keys of their own, `/api/api-keys` is not part of the api, and
   * the codes of registration invites are shown only once.
   */
  readonly secretEncryptionKey?: string;
  /** Default 100. */
  readonly creditsPerUsd?: number;
  /** By model id: changed, added or disabled models. */
  readonly models?: Readonly<Record<string, ModelOverride>>;
  /** Models nobody is to see or use. */
  readonly hideModel?: (model: ModelInfo) => boolean;
  /** What the administrator's settings are until somebody changes them. */
  readonly admin?: Partial<AdminSettings>;
  /** Ceilings of signed-in users. Default: `DEFAULT_RATE_LIMITS`. */
  readonly rateLimits?: Partial<RateLimits>;
  /** What people may do before they are known. Default: `DEFAULT_SIGN_IN_LIMITS`. */
  readonly signInLimits?: Partial<SignInLimits>;
  readonly completions?: Partial<CompletionsSettings>;
  /**
   * By model id: which models answer in its place, in order, when it fails before its first word through no fault of the
   * request. Priced as the model that answered.
   */
  readonly fallbacks?: Readonly<Record<string, readonly string[]>>;
  /** Tools of the host's own, beside the built-in ones: `createToolbox([defineTool(...)])`. */
  readonly tools?: readonly ToolRegistry[];
  /**
   * Whether a model names, sums up and tags sessions after a turn, by itself and at the expense of who pays for the turn.
   * Default false.
   */
  readonly enrichment?: boolean;
  /** Instructions that models load when they need them. Each has an id of its own. */
  readonly skills?: readonly Skill[];
  /** What every chat model is told about this workspace, e.g. its purpose and tone. */
  readonly systemPrompt?: string;
  /** Agent runs of one user that may be under way at once. Default 3. */
  readonly maxLiveExecutions?: number;
  /** How films and music in the making are looked after. Default: `DEFAULT_GENERATION_SETTINGS`. */
  readonly generations?: Partial<GenerationSettings>;
  /** `embeddingModel`: of data lakes that have none yet. Default: the first embedding model there is. */
  readonly dataLakes?: { readonly embeddingModel?: string };
  /** A sound larger than this is handed over by its address, not in the answer. Default 4 MiB. */
  readonly inlineAudioMaxBytes?: number;
  /** What files may be, and how much of them. */
  readonly files?: Partial<FileSettings>;
  /** What mails call this workspace. Default `Questline`. */
  readonly appName?: string;
  /** The theme of whoever has not chosen one; what themes there are is for clients to know. Default `system`. */
  readonly defaultTheme?: string;
  /** So long a caller waits at most for work it asked to wait for. Default 60,000 ms. */
  readonly requestTimeoutMs?: number;
  /** How accepted work is done. Default: `DEFAULT_WORKER_SETTINGS`. */
  readonly worker?: Partial<WorkerSettings>;
  /** `pass`: an unknown path belongs to the host. `not-found`: unknown paths below `/api/` are answered 404. Default `pass`. */
  readonly unknownPaths?: 'pass' | 'not-found';
  /**
   * Whether the agents of the application API also stand at `/agents` and `/sessions/{sessionId}/agents`, outside `/api/`.
   * Off: those paths are the host's. Default true.
   */
  readonly rootAliases?: boolean;
  /** Where the service is reached from outside, e.g. `https://ai.example.com`. */
  readonly publicUrl?: string;
  /**
   * The script that draws the reference page: the text of `redoc/bundles/redoc.standalone.js`, read at the first visit.
   * Default: a plain page without any script.
   */
  readonly docsBundle?: DocsBundle;
  /** Told of everything that ended in a 5xx or failed behind an answer, for the host's own log. Default: nobody. */
  readonly onError?: (incident: Incident) => void;
  /** Told of requests, jobs, model calls and credit as they happen, for metrics and traces; the first is outermost. Default: nobody. */
  readonly observers?: readonly Observer[];
}

/** Everything handlers stand on. The whole satisfies every factory; a test passes the members a factory asks for. */
export interface Services {
  readonly store: Store;
  readonly ledger: CreditLedger;
  readonly limiter: RateLimiter;
  readonly queue: JobQueue;
  readonly publisher: Publisher;
  readonly intake: Intake;
  readonly streams: OpenStreams;
  readonly idempotency: Idempotency;
  readonly notices: QuestNotices;
  readonly agentEvents: AgentEvents;
  readonly breaker: Breaker;
  readonly fallbacks: Readonly<Record<string, readonly string[]>>;
  readonly promptSources: readonly PromptSource[];
  readonly followUps: readonly FollowUp[];
  readonly toolRegistry: ToolRegistry;
  readonly web: WebTools;
  readonly objects: ObjectStore;
  readonly objectLinks: ObjectLinks;
  readonly moderator: Moderator | null;
  /** Those who hand out links to upload to. */
  readonly uploadWatches: readonly UploadWatch[];
  readonly library: FileLibrary;
  readonly files: FilesReader;
  readonly vectors: VectorIndex;
  readonly extractors: readonly TextExtractor[];
  readonly lakeEmbeddingModel: string | undefined;
  readonly fileSettings: FileSettings;
  readonly links: LinkReader;
  readonly isMember: MembershipCheck;
  readonly administers: AdministrationCheck;
  readonly requestTimeoutMs: number;
  readonly maxLiveExecutions: number;
  readonly inlineAudioMaxBytes: number;
  readonly generations: GenerationSettings;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly authenticator: Authenticator;
  readonly tokens: AccessTokens;
  readonly challenges: Challenges;
  readonly mailer?: Mailer;
  readonly appName: string;
  readonly defaultTheme: string;
  readonly catalogue: ModelCatalogue;
  /** The models there are for one user. */
  readonly catalogueOf: CatalogueOf;
  /** Both are there when users may bring provider keys of their own. */
  readonly secretBox?: SecretBox;
  readonly ownModels?: OwnModels;
  readonly providers: readonly ModelProvider[];
  readonly switches: Switches;
  readonly limits: RateLimits;
  readonly signInLimits: SignInLimits;
  readonly completions: CompletionsSettings;
  readonly worker: WorkerSettings;
  readonly unknownPaths: 'pass' | 'not-found';
  readonly rootAliases: boolean;
  readonly publicUrl: string | undefined;
  readonly docsBundle: DocsBundle | undefined;
  readonly observer?: Observer;
  readonly onError: (incident: Incident) => void;
}

const REQUEST_TIMEOUT_MS = 60_000;
const MAX_LIVE_EXECUTIONS = 3;
const INLINE_AUDIO_BYTES = 4 * 2 ** 20;

/**
 * Puts ports and settings together.
 * @throws ConfigurationError naming every wrong option, what it got and what it wants.
 */
export function createServices(ports: Ports, settings: Settings): Services {
  checkPorts(ports);
  checkSettings(settings);
  const { store, limiter } = ports;
  const observer = joinObservers(settings.observers ?? []);
  const { ledger, models } = observedPorts(ports, observer);
  const clock = ports.clock ?? createSystemClock();
  const ids = ports.ids ?? createIds();
  const onError = quietly(settings.onError);
  const web = ports.web ?? {};
  const publisher =
    ports.publisher ??
    createMemoryPublisher({ onError: (error) => onError({ operation: 'publish', requestId: '', error }) });
  const switches = createSwitches({ store, clock, defaults: settings.admin ?? {} });
  const isMember = createMembershipCheck(store);
  const tokens = createAccessTokens(secretBytes(settings.jwtSecret), clock);
  const sessionSecret = secretBytes(settings.sessionSecret ?? settings.jwtSecret);
  const given = ports.queue ?? createStoreQueue({ store, clock, ids });
  const queue = observer?.carry === undefined ? given : carryingQueue(given, observer.carry);
  const objects = ports.objects ?? createMemoryObjects();
  const objectLinks = createObjectLinks({
    objects,
    secret: sessionSecret,
    publicUrl: settings.publicUrl,
  });
  const fileSettings = fileSettingsOf(settings.files);
  const moderator = ports.moderator === undefined ? createLocalModerator() : ports.moderator;
  const library = createFileLibrary({
    store,
    queue,
    moderator,
    objects,
    objectLinks,
    clock,
    ids,
    switches,
    storageQuota: fileSettings.storageQuota,
    onError,
  });
  const catalogueOptions: CatalogueOptions = {
    providers: models,
    ...(settings.models !== undefined && { overrides: settings.models }),
    ...(settings.hideModel !== undefined && { hidden: settings.hideModel }),
    ...(settings.creditsPerUsd !== undefined && { creditsPerUsd: settings.creditsPerUsd }),
  };
  const catalogue = createCatalogue(catalogueOptions);
  const own =
    settings.secretEncryptionKey === undefined
      ? undefined
      : ownKeysOf(settings.secretEncryptionKey, {
          store,
          clock,
          ids,
          catalogue,
          options: catalogueOptions,
          onError: (error) => onError({ operation: 'provider-key', requestId: '', error }),
        });
  const catalogueOf = own?.ownModels.catalogueOf ?? (() => catalogue);
  const breaker = createBreaker(clock);
  const vectors = ports.vectors ?? createMemoryVectors();
  const extractors = [...(ports.extractors ?? []), plainTextExtractor];
  const files = createFilesReader({ store, library, extractors, onError });
  const lakeEmbeddingModel = settings.dataLakes?.embeddingModel;
  const knowledge = {
    store,
    ledger,
    clock,
    isMember,
    catalogue,
    switches,
    files,
    vectors,
    lakeEmbeddingModel,
    onError,
  };
  return {
    store,
    ledger,
    limiter,
    queue,
    publisher,
    intake: createIntake(),
    streams: createOpenStreams(clock),
    idempotency: createIdempotency({ store, clock }),
    notices: createQuestNotices({ publisher, clock, onError }),
    agentEvents: createAgentEvents({ publisher, clock, onError }),
    breaker,
    fallbacks: settings.fallbacks ?? {},
    promptSources: [
      builtInPrompt(settings.systemPrompt),
      recalledMementos({ store }),
      mentionedAgents({ store, switches }),
      sessionKnowledge(knowledge, createAttachedReader({ library, extractors })),
    ],
    followUps: [
      rememberAfterwards({ clock, ids }),
      ...(settings.enrichment === true ? [enrichAfterwards({ clock, ids })] : []),
    ],
    toolRegistry: joinToolRegistries(
      [
        createToolbox([
          ...everydayTools({ clock, ids }),
          ...drawingTools(),
          ...webTools(web),
          ...skillTools(settings.skills ?? []),
        ]),
        imageTools(
          createImageHook({ ledger, clock, onError, catalogue, catalogueOf, switches, breaker, library }),
        ),
        delegationTools({ store, switches }),
        knowledgeTools(knowledge),
        artifactTools({ store, clock, ids, switches }),
        ...(settings.tools ?? []),
      ],
      (error) => onError({ operation: 'tools', requestId: '', error }),
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
    lakeEmbeddingModel,
    fileSettings,
    links: withLakeLinks(
      { store, isMember },
      withArtifactLinks({ store, isMember }, withAgentLinks(store, withFileLinks(store, noLinks))),
    ),
    isMember,
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
    ...(ports.mailer !== undefined && { mailer: ports.mailer }),
    appName: settings.appName ?? 'Questline',
    defaultTheme: settings.defaultTheme ?? 'system',
    authenticator: createAuthenticator({
      store,
      clock,
      tokens,
      publisher,
      onError: (error) => onError({ operation: 'authenticate', requestId: '', error }),
    }),
    catalogue,
    catalogueOf,
    ...own,
    providers: models,
    switches,
    limits: { ...DEFAULT_RATE_LIMITS, ...settings.rateLimits },
    signInLimits: { ...DEFAULT_SIGN_IN_LIMITS, ...settings.signInLimits },
    completions: { insufficientCreditsStatus: 422, metaEvent: true, ...settings.completions },
    worker: { ...DEFAULT_WORKER_SETTINGS, ...settings.worker },
    unknownPaths: settings.unknownPaths ?? 'pass',
    rootAliases: settings.rootAliases ?? true,
    publicUrl: settings.publicUrl,
    docsBundle: settings.docsBundle,
    ...(observer !== undefined && { observer }),
    onError,
  };
}

/** The host's ports as they are, or with somebody who looks on. */
function observedPorts(
  { ledger, models }: Ports,
  observer: Observer | undefined,
): Pick<Ports, 'ledger' | 'models'> {
  const { credit, modelCall } = observer ?? {};
  return {
    ledger: credit === undefined ? ledger : observedLedger(ledger, credit),
    models: modelCall === undefined ? models : models.map((one) => observedProvider(one, modelCall)),
  };
}

/** What users' own provider keys need. */
function ownKeysOf(
  key: string,
  services: Omit<Parameters<typeof createOwnModels>[0], 'box'> & { readonly ids: Ids },
): { readonly secretBox: SecretBox; readonly ownModels: OwnModels } {
  const secretBox = createSecretBox(Buffer.from(key, 'hex'), services.ids);
  return { secretBox, ownModels: createOwnModels({ ...services, box: secretBox }) };
}

/** A host's broken reporter must not break an answer. */
function quietly(report: ((incident: Incident) => void) | undefined): (incident: Incident) => void {
  if (report === undefined) return () => undefined;
  return (incident) => {
    try {
      report(incident);
    } catch {
      // There is nobody left to tell.
    }
  };
}

function secretBytes(secret: string | Uint8Array): Uint8Array {
  if (typeof secret !== 'string') return secret;
  return /^[0-9a-f]{64}$/i.test(secret) ? Buffer.from(secret, 'hex') : Buffer.from(secret, 'utf8');
}
