import type { LinkReader } from '../access/links.ts';
import type { LakeSearch } from '../contract/lake-search.ts';
import type { SessionListener } from '../contract/session.ts';
import type { Budgets } from '../credits/budgets.ts';
import type { HoldHeartbeat } from '../credits/hold-heartbeat.ts';
import type { SettlementRetries } from '../credits/settlement-retries.ts';
import type { ChargeEvents } from '../events/charges.ts';
import type { EventHandler, EventListener } from '../events/event.ts';
import type { AgentEvents } from '../features/agents/events.ts';
import type { AgentReach } from '../features/agents/reach.ts';
import type { Voice } from '../features/audio/voices-contract.ts';
import type { CompletionsSettings } from '../features/completions/handlers.ts';
import type { DeviceLogins } from '../features/device-login/logins.ts';
import type { DocumentReader } from '../features/files/documents.ts';
import type { FileLibrary } from '../features/files/library.ts';
import type { ObjectLinks } from '../features/files/objects-links.ts';
import type { UploadWatch } from '../features/files/objects-uploads.ts';
import type { FilesReader } from '../features/files/reader.ts';
import type { FileSettings } from '../features/files/settings.ts';
import type { GenerationSettings } from '../features/media-jobs/settings.ts';
import type { AdministrationCheck, MembershipCheck } from '../features/organizations/membership.ts';
import type { Challenges } from '../features/sign-in/challenges.ts';
import type { SignInGuards } from '../features/sign-in/guards.ts';
import type { SignInLimits } from '../features/sign-in/limits.ts';
import type { TokenFamilies } from '../features/sign-in/token-families.ts';
import type { StorageQuotas } from '../features/storage/usage.ts';
import type { Skill } from '../features/tools/skill.ts';
import type { WebhookReceivers } from '../features/webhooks/receivers.ts';
import type { WhatsNewEntry } from '../features/whats-new/contract.ts';
import type { Authenticator } from '../identity/credentials.ts';
import type { ModelLists } from '../identity/model-lists.ts';
import type { AccessTokens } from '../identity/tokens.ts';
import type { JobSlots } from '../jobs/job-slots.ts';
import type { JobWatch } from '../jobs/job-watch.ts';
import type { WorkerSettings } from '../jobs/worker-settings.ts';
import type { GetCatalogue } from '../models/allowed-models.ts';
import type { CircuitBreaker } from '../models/breaker.ts';
import type { ModelCatalogue } from '../models/catalogue.ts';
import type { OwnModels } from '../models/own-models.ts';
import type { PromptCacheSetting } from '../models/prompt-cache.ts';
import type { SecretBox } from '../models/secret-box.ts';
import type { Observer } from '../observability/observer.ts';
import type { AdminSettingsReader } from '../operations/admin-settings.ts';
import type { AdmissionControl } from '../operations/admission-control.ts';
import type { AuditLog } from '../operations/audit-log.ts';
import type { DeletionCleanup } from '../operations/deletion.ts';
import type { Idempotency } from '../operations/idempotency.ts';
import type { OpenStreams } from '../operations/open-streams.ts';
import type { DocsBundle } from '../operations/openapi/handlers.ts';
import type { PaidCalls } from '../operations/paid-calls.ts';
import type { RateLimits } from '../operations/rates.ts';
import type { NewestSettings, RetentionSettings } from '../operations/retention.ts';
import type {
  Clock,
  CreditLedger,
  EventLog,
  Ids,
  JobQueue,
  Mailer,
  ModelProvider,
  Moderator,
  ObjectStore,
  Publisher,
  RateLimiter,
  Store,
  TextExtractor,
  VectorIndex,
  WebhookSender,
  WebTools,
} from '../ports/index.ts';
import type { PromptSource } from '../prompts/prompt.ts';
import type { ClaimedQuests } from '../runs/claimed-quests.ts';
import type { LiveFollowers } from '../runs/live-followers.ts';
import type { LiveTails } from '../runs/live-tails.ts';
import type { QuestEvents } from '../runs/quest-events.ts';
import type { FollowUp } from '../runs/quest-task.ts';
import type { RunningQuests } from '../runs/running.ts';
import type { WorkLine } from '../runs/work-line.ts';
import type { Incident } from '../shared/incident.ts';
import type { ToolRegistry } from '../tools/registry.ts';
import type { ChargeArchiveSettings } from './charge-archive.ts';
import type { OperationSelection } from './selection.ts';

/**
 * All services that handlers use. Satisfies the parameter of every handler factory; a test passes only the members
 * that its factory needs.
 */
export interface Services extends BaseServices {
  /** The selection of all APIs. Undefined: all operations. */
  readonly operations: OperationSelection | undefined;
  /** Whether that selection leaves the operation of the API with this id. */
  hasOperation(id: string): boolean;
  readonly promptSources: readonly PromptSource[];
  readonly followUps: readonly FollowUp[];
  readonly toolRegistry: ToolRegistry;
  /** Searches data lakes within answers. */
  readonly lakeSearch: LakeSearch;
  readonly sessionListeners: readonly SessionListener[];
  readonly eventListeners: readonly EventListener[];
}

/** The services that tools, prompt sources and follow-ups are created from. */
export interface BaseServices {
  /** The records of all features. Change them through operations, not directly. */
  readonly store: Store;
  /** Balances, holds and charges, in micro-credits. Accounts are `user:<id>` and `organization:<id>`. */
  readonly ledger: CreditLedger;
  /** Store and ledger that write no audit entries, for jobs of features that change no audited collection. */
  readonly unaudited: { readonly store: Store; readonly ledger: CreditLedger };
  readonly budgets: Budgets;
  readonly heartbeat: HoldHeartbeat;
  readonly settlementRetries: SettlementRetries;
  /** Fixed windows of requests per key, user and address. */
  readonly limiter: RateLimiter;
  /** Jobs, such as chat turns. A worker leases them. */
  readonly queue: JobQueue;
  readonly jobWatch: JobWatch;
  /** The free slots of this process, for jobs that it accepts. */
  readonly jobSlots: JobSlots;
  readonly claimedQuests: ClaimedQuests;
  /** Messages between processes, for live updates and revocations. */
  readonly publisher: Publisher;
  /** Events of running work, for readers that continue where they stopped. */
  readonly eventLog: EventLog;
  /** Refuses new work while the process ends. */
  readonly admissionControl: AdmissionControl;
  /** Refuses new work while too much work waits. */
  readonly workLine: WorkLine;
  /** Open answers, which a shutdown waits for. */
  readonly streams: OpenStreams;
  /** Responses by `Idempotency-Key`, kept for 24 hours. */
  readonly idempotency: Idempotency;
  readonly questEvents: QuestEvents;
  /** Connects readers of running quests with their workers. */
  readonly liveFollowers: LiveFollowers;
  /** The quests that run in this process. */
  readonly runningQuests: RunningQuests;
  /** The streams of events that readers of this process follow. */
  readonly liveTails: LiveTails;
  readonly agentEvents: AgentEvents;
  readonly agentReach: AgentReach;
  /** Provider failures; refuses calls of a provider that is away. */
  readonly breaker: CircuitBreaker;
  readonly fallbacks: Readonly<Record<string, readonly string[]>>;
  readonly promptCache: PromptCacheSetting;
  readonly skills: readonly Skill[];
  readonly voices: readonly Voice[];
  /** Absent: the host has no news. */
  readonly whatsNew: (() => Promise<readonly WhatsNewEntry[]>) | undefined;
  readonly enrichment: boolean;
  /** Deletes records with everything that belongs to them. */
  readonly deletion: DeletionCleanup;
  readonly retention: RetentionSettings;
  readonly keepNewest: NewestSettings;
  /** Absent: charges are kept. */
  readonly chargeArchive: ChargeArchiveSettings | undefined;
  readonly web: WebTools;
  /** The bytes of files. */
  readonly objects: ObjectStore;
  readonly objectLinks: ObjectLinks;
  readonly moderator: Moderator | null;
  /** Receive uploads to signed links. */
  readonly uploadWatches: readonly UploadWatch[];
  /** Uploads and their states. */
  readonly library: FileLibrary;
  /** Reads files for models, with the rights of a user. */
  readonly files: FilesReader;
  /** The passages of data lakes. */
  readonly vectors: VectorIndex;
  readonly extractors: readonly TextExtractor[];
  /** Reads the text of documents, in a separate process. */
  readonly documents: DocumentReader;
  readonly lakeEmbeddingModel: string | undefined;
  readonly fileSettings: FileSettings;
  readonly storageQuotas: StorageQuotas;
  readonly links: LinkReader;
  readonly isMember: MembershipCheck;
  readonly modelLists: ModelLists;
  readonly administers: AdministrationCheck;
  /** Milliseconds that a request with `wait` waits. */
  readonly requestTimeoutMs: number;
  /** Agent runs of one user at the same time. */
  readonly maxLiveExecutions: number;
  /** Larger audio is stored as a file instead of being part of the answer. */
  readonly inlineAudioMaxBytes: number;
  readonly generations: GenerationSettings;
  /** The time of all deadlines and records. */
  readonly clock: Clock;
  /** Ids and random values. */
  readonly ids: Ids;
  /** Finds the caller of a request: API key, access token or session of the host. */
  readonly authenticator: Authenticator;
  /** Signs and verifies access tokens. */
  readonly tokens: AccessTokens;
  readonly challenges: Challenges;
  readonly deviceLogins: DeviceLogins;
  readonly deviceVerificationUrl: string | undefined;
  readonly mailer?: Mailer;
  readonly appName: string;
  readonly defaultTheme: string;
  /** The models of the host with their prices, without the keys of users. */
  readonly catalogue: ModelCatalogue;
  /** Returns the catalogue of one user, including models with the user's own keys. */
  readonly getCatalogue: GetCatalogue;
  /** `secretBox` and `ownModels` exist if users can store their own provider keys. */
  readonly secretBox?: SecretBox;
  /** Encrypts texts of waiting requests, with `secretEncryptionKey` or a key derived from the session secret. */
  readonly textBox: SecretBox;
  readonly ownModels?: OwnModels;
  /** The providers of the host, in order of preference. */
  readonly providers: readonly ModelProvider[];
  /** Settings that administrators change at run time. */
  readonly adminSettings: AdminSettingsReader;
  readonly auditLog: AuditLog;
  /** Days after which entries of the audit log are deleted. Null: never. */
  readonly auditRetentionDays: number | null;
  /** Requests per window of each kind of operation. */
  readonly limits: RateLimits;
  readonly paidCalls: PaidCalls;
  readonly signInLimits: SignInLimits;
  /** Limits wrong codes per account and address. */
  readonly guards: SignInGuards;
  readonly tokenFamilies: TokenFamilies;
  readonly setupCode: string | undefined;
  readonly completions: CompletionsSettings;
  readonly worker: WorkerSettings;
  readonly unknownPaths: 'pass' | 'not-found';
  readonly rootAliases: boolean;
  readonly publicUrl: string | undefined;
  readonly docsBundle: DocsBundle | undefined;
  readonly observer?: Observer;
  readonly onEvent: EventHandler | undefined;
  /** Absent: events have no receiver, and none are written. */
  readonly chargeEvents?: ChargeEvents;
  /** Milliseconds after which the sweep looks for events that a crash left. */
  readonly eventGraceMs: number;
  /** Both absent: the host cannot call webhooks. */
  readonly webhookSender?: WebhookSender;
  readonly webhookReceivers?: WebhookReceivers;
  readonly onError: (incident: Incident) => void;
}
