import type {
  Clock,
  CreditLedger,
  EventLog,
  Identity,
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

/**
 * The infrastructure that the host provides. Every port has an in-memory reference implementation in
 * `@questline/core/memory`.
 */
export interface Ports {
  /** Keeps the records. */
  readonly store: Store;
  /** Keeps balances, holds and charges. */
  readonly ledger: CreditLedger;
  /** Counts requests in windows. */
  readonly limiter: RateLimiter;
  /** Model providers in order of preference: if several offer the same model id, the first one serves it. */
  readonly models: readonly ModelProvider[];
  /** Stores accepted work. Default: `createStoreQueue` on `store`. */
  readonly queue?: JobQueue;
  /** Notifies other processes of changes immediately. Default: this process only; other processes poll the store. */
  readonly publisher?: Publisher;
  /** Keeps the events of running work for readers, for a short time. Default: on `store`. */
  readonly eventLog?: EventLog;
  /**
   * Sends one-time codes for sign-in. Default: sign-in is off, and `/api/otc/*` and `/api/reg-invites` are not part
   * of the API; the host has its own accounts and issues tokens itself.
   */
  readonly mailer?: Mailer;
  /** Stores the bytes of files. Default: in memory; lost when the process exits. */
  readonly objects?: ObjectStore;
  /**
   * Decides whether an upload may be used. Default: `createLocalModerator()`. `null`: accepts every upload that has
   * the declared size and type.
   */
  readonly moderator?: Moderator | null;
  /** Web search, page download and weather for tools. Default: not configured. */
  readonly web?: WebTools;
  /**
   * Posts events to addresses that users choose: `createWebhookSender()` of `@questline/providers/web`. Default:
   * `/api/webhooks` is not part of the API.
   */
  readonly webhooks?: WebhookSender;
  /** Stores and searches the passages of data lakes. Default: in memory; lost when the process exits. */
  readonly vectors?: VectorIndex;
  /**
   * Text extractors for formats other than text, such as Markdown, CSV, JSON and source code; see `@questline/documents`. Used by
   * data lakes and chats.
   */
  readonly extractors?: readonly TextExtractor[];
  /** Identifies callers by the host's own sessions or tokens. Default: callers need a key or token of Questline. */
  readonly identity?: Identity;
  /** Default: the system clock. */
  readonly clock?: Clock;
  /** Default: ids from the system's cryptographically strong random source. */
  readonly ids?: Ids;
}
