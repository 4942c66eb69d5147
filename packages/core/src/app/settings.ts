import type { EventHandler } from '../events/event.ts';
import type { Voice } from '../features/audio/voices-contract.ts';
import type { CompletionsSettings } from '../features/completions/handlers.ts';
import type { DocumentSettings } from '../features/files/documents.ts';
import type { FileSettings } from '../features/files/settings.ts';
import type { GenerationSettings } from '../features/media-jobs/settings.ts';
import type { SignInLimits } from '../features/sign-in/limits.ts';
import type { StorageQuotas } from '../features/storage/usage.ts';
import type { Skill } from '../features/tools/skill.ts';
import type { WhatsNewEntry } from '../features/whats-new/contract.ts';
import type { IdentitySettings } from '../identity/host-callers.ts';
import type { TokenLifetimes } from '../identity/tokens.ts';
import type { WorkerSettings } from '../jobs/worker-settings.ts';
import type { ModelOverride } from '../models/catalogue.ts';
import type { PromptCacheSetting } from '../models/prompt-cache.ts';
import type { Observer } from '../observability/observer.ts';
import type { AdminSettings } from '../operations/admin-settings.ts';
import type { DocsBundle } from '../operations/openapi/handlers.ts';
import type { RateLimits } from '../operations/rates.ts';
import type { NewestSettings, RetentionSettings } from '../operations/retention.ts';
import type { ModelInfo } from '../ports/index.ts';
import type { LineSettings } from '../runs/work-line.ts';
import type { Incident } from '../shared/incident.ts';
import type { ToolRegistry } from '../tools/registry.ts';
import type { ChargeArchiveSettings } from './charge-archive.ts';
import type { OperationSelection } from './selection.ts';

/**
 * The configuration of the service. `createServices` throws a `ConfigurationError` that lists every invalid value.
 */
export interface Settings {
  /** Key that signs access tokens: at least 32 bytes, best as 64 hexadecimal characters. */
  readonly jwtSecret: string | Uint8Array;
  /** Key that signs one-time codes and file links. Same format. Default: `jwtSecret`. */
  readonly sessionSecret?: string | Uint8Array;
  /**
   * Key that encrypts stored secrets of users (AES-256-GCM): 64 hexadecimal characters. If it changes, stored secrets
   * are lost. Default: users cannot store their own provider keys, `/api/api-keys` is not part of the API, and codes
   * of registration invites are shown only once; system prompts of requests are encrypted with a key derived from
   * `sessionSecret`.
   */
  readonly secretEncryptionKey?: string;
  /** Credits per US dollar: above 0, at most 1,000,000. Default 100. */
  readonly creditsPerUsd?: number;
  /** Overrides by model id: change, add or disable a model. */
  readonly models?: Readonly<Record<string, ModelOverride>>;
  /** Returns true for models that are not listed and cannot be used. */
  readonly hideModel?: (model: ModelInfo) => boolean;
  /** Initial values of the admin settings. They apply until an administrator changes them. */
  readonly admin?: Partial<AdminSettings>;
  /** Rate limits of signed-in users, by class of operations. Default: `DEFAULT_RATE_LIMITS`. */
  readonly rateLimits?: Partial<RateLimits>;
  /**
   * Storage quotas per owner for artifacts, sessions and data lakes, in bytes; `null` or 0: unlimited. Default:
   * `DEFAULT_STORAGE_QUOTAS`.
   */
  readonly storageQuotas?: Partial<StorageQuotas>;
  /**
   * Daily limit of paid requests per user (all keys and tokens together) while credits are not enforced. `null` or 0:
   * unlimited. Default 1,000.
   */
  readonly paidCallsPerDay?: number | null;
  /** Rate limits of unauthenticated sign-in requests. Default: `DEFAULT_SIGN_IN_LIMITS`. */
  readonly signInLimits?: Partial<SignInLimits>;
  /**
   * Wrong codes per account and day. After that, every further wrong code locks the account for one hour. 1 to
   * 1,000,000. Default 50.
   */
  readonly maxWrongCodesPerDay?: number;
  /**
   * Lifetimes of access and refresh tokens, in seconds (60 or more). Default: `DEFAULT_TOKEN_LIFETIMES`, 7 and 30
   * days.
   */
  readonly tokenLifetimes?: Partial<TokenLifetimes>;
  /**
   * Invite code that the first account of an empty workspace needs: 8 to 100 characters. Default: none; the first
   * user who verifies an e-mail address becomes the administrator.
   */
  readonly setupCode?: string;
  /**
   * The page on which a user enters the code of a device, an http or https URL; `?code=` is appended. Default: `/device`
   * below `publicUrl`, where the console serves it.
   */
  readonly deviceVerificationUrl?: string;
  /** Status and events of completions, for older clients. */
  readonly completions?: Partial<CompletionsSettings>;
  /**
   * Fallback models by model id, in order. A fallback answers if the model fails before its first output and the
   * request is not the cause. The charge uses the prices of the model that answered.
   */
  readonly fallbacks?: Readonly<Record<string, readonly string[]>>;
  /**
   * The models of each plan, by id: `tier` of a user, `subscriptionTier` of an organization that pays. Other models are
   * not listed and refused with `model_not_allowed`. Default: every plan has all models.
   */
  readonly planModels?: Readonly<Partial<Record<'free' | 'basic' | 'pro' | 'other', readonly string[]>>>;
  /**
   * Use of the providers' prompt caches. `off`: no cache breakpoints and no cache keys. `ttl`: lifetime of cache
   * entries, if the provider offers a choice; writes with a TTL of one hour cost more, so set `cacheWrite` prices to
   * match. Default `auto`.
   */
  readonly promptCache?: PromptCacheSetting;
  /**
   * The operations of all APIs that are made of these services, on every wire: `{ only: [...] }` or `{ without: [...] }`, as
   * the option of `createApi`. Without `createEmbeddings`, for example, the OpenAI API has no `/v1/embeddings`. Default: all.
   */
  readonly operations?: OperationSelection;
  /** Additional tools of the host: `createToolbox([defineTool(...)])`. */
  readonly tools?: readonly ToolRegistry[];
  /**
   * Whether a model creates title, summary and tags of a session after a turn. The payer of the turn pays for it.
   * Default false.
   */
  readonly enrichment?: boolean;
  /** Instructions that models load on demand. Ids are unique. */
  readonly skills?: readonly Skill[];
  /** Voices for speech, listed at `GET /api/v1/voices`. Default: the operation is not part of the API. */
  readonly voices?: readonly Voice[];
  /**
   * Returns news for users, listed at `GET /api/v1/whats-new`, the newest 100. Called for each request. Default: the
   * operation is not part of the API.
   */
  readonly whatsNew?: () => Promise<readonly WhatsNewEntry[]>;
  /** System prompt for every chat, e.g. the purpose and tone of the workspace. */
  readonly systemPrompt?: string;
  /** Maximum concurrent agent runs per user, 1 to 1,000. Default 3. */
  readonly maxLiveExecutions?: number;
  /** Poll interval and timeout of video and music jobs, in milliseconds. Default: `DEFAULT_GENERATION_SETTINGS`. */
  readonly generations?: Partial<GenerationSettings>;
  /** `embeddingModel`: model id for new data lakes. Default: the first embedding model of the catalogue. */
  readonly dataLakes?: { readonly embeddingModel?: string };
  /** Maximum size of inline audio, in bytes; a response contains a URL for larger audio. Default 4 MiB. */
  readonly inlineAudioMaxBytes?: number;
  /**
   * Deletes records by age: days by kind, 1 to 36,500, such as `{ sessions: 365, files: 90 }`. Default: records are kept,
   * responses of the OpenAI API for 30 days, webhook deliveries for 7 days.
   */
  readonly retention?: RetentionSettings;
  /**
   * Moves settled and released charges that are older than `days`, 90 to 36,500, out of the ledger and passes them to
   * `archive` as lines of JSON. Sums of reports stay; see the page about retention. Needs a ledger with `archiveCharges`, and
   * that no process of a version without the setting runs. Default: charges are kept.
   */
  readonly chargeArchive?: ChargeArchiveSettings;
  /**
   * Deletes records beyond the newest ones: their number by kind, 1 to 10,000, such as `{ messages: 1000 }` of each session.
   * Records of the last day stay. Default: any number is kept.
   */
  readonly keepNewest?: NewestSettings;
  /** Concurrency and timeout of text extraction. Default: `DEFAULT_DOCUMENT_SETTINGS`. */
  readonly documents?: Partial<DocumentSettings>;
  /** Storage quota per owner, in bytes, and rejected media types. */
  readonly files?: Partial<FileSettings>;
  /** Cache, timeout and allowed origins of the port `identity`. Default: `DEFAULT_IDENTITY_SETTINGS`. */
  readonly identity?: Partial<IdentitySettings>;
  /** The name of the workspace in e-mails: 1 to 100 characters, one line. Default `Questline`. */
  readonly appName?: string;
  /** Theme of users without a choice: 1 to 50 characters. Clients define the themes. Default `system`. */
  readonly defaultTheme?: string;
  /** Maximum time of a request that waits for its result, in milliseconds. Default 60,000. */
  readonly requestTimeoutMs?: number;
  /**
   * Maximum number of accepted jobs that wait for a worker, of all owners and of one, 1 to 9,000; `null` or 0: unlimited. More
   * work is refused with 503. Default: 5,000 and 1,000.
   */
  readonly admission?: Partial<LineSettings>;
  /** Leases, polling and concurrency of the worker. Default: `DEFAULT_WORKER_SETTINGS`. */
  readonly worker?: Partial<WorkerSettings>;
  /** `pass`: unknown paths are left to the host. `not-found`: unknown paths below `/api/` get 404. Default `pass`. */
  readonly unknownPaths?: 'pass' | 'not-found';
  /**
   * Whether the application API also serves agents at `/agents` and `/sessions/{sessionId}/agents`, outside `/api/`.
   * False: these paths are left to the host. Default true.
   */
  readonly rootAliases?: boolean;
  /**
   * Public http or https URL of the service, e.g. `https://ai.example.com`, without credentials, query or fragment.
   */
  readonly publicUrl?: string;
  /**
   * Returns the script of the API reference page: the text of `redoc/bundles/redoc.standalone.js`. Called at the
   * first visit. Default: a plain page without scripts.
   */
  readonly docsBundle?: DocsBundle;
  /**
   * Called for every failure that ended in a 5xx or happened in the background, for the host's log. Default: failures
   * are not reported.
   */
  readonly onError?: (incident: Incident) => void;
  /**
   * Receives what happened: ended work, settled charges, keys, users, files. At least once, after the change is stored,
   * in any order; the same event always has the same `id`. Runs in a worker, never within a request. Set it in all
   * processes of a workspace: a process without it writes no events. Default: nothing is written.
   */
  readonly onEvent?: EventHandler;
  /** Days for which the audit log keeps entries, 1 to 36,500; `null`: forever. Default `null`. */
  readonly auditRetentionDays?: number | null;
  /** Credits: an account with less than this after a charge causes a `credits.low` event, once. 0 or more. Default 100. */
  readonly creditsLowAt?: number;
  /**
   * Observe requests, jobs, model calls and credit movements, for metrics and traces. The first observer is
   * outermost. Default: none.
   */
  readonly observers?: readonly Observer[];
}
