import type { ApiRequest, ApiResponse } from '../contract/message.ts';
import type { Operation } from '../contract/operation.ts';
import type { Usage } from '../ports/ledger.ts';
import type { FinishReason } from '../ports/models.ts';
import type { Reschedule } from '../ports/queue.ts';

/**
 * Observes the service, for metrics and traces. All members are optional; an unimplemented member costs nothing.
 * Events contain no prompts, answers or secrets, except the raw request.
 */
export interface Observer {
  /** Wraps every request that reaches an operation. Must call `work` once and return its result. */
  request?(request: ObservedRequest, work: () => Promise<ApiResponse>): Promise<ApiResponse>;
  /** Wraps every run of a job. Must call `work` once and return its result. */
  job?(job: ObservedJob, work: () => Promise<Reschedule | undefined>): Promise<Reschedule | undefined>;
  /** Called before each provider call. @returns a span that receives the events of the call. */
  modelCall?(call: ModelCall): ModelCallSpan | undefined;
  /** Called after credit was held, settled, released or recorded. */
  credit?(movement: CreditMovement): void;
  /** Called if a provider's usage report is rejected or costs more than the charge. */
  usageRejected?(rejection: UsageRejection): void;
  /** Returns the context to store with jobs that are enqueued now, e.g. a `traceparent`: short texts by name. */
  getTraceContext?(): Readonly<Record<string, string>> | undefined;
}

/** A request and its operation. */
export interface ObservedRequest {
  readonly operation: Operation;
  readonly request: ApiRequest;
}

/** A job that a worker runs. */
export interface ObservedJob {
  readonly kind: string;
  /** The number of this run, from 1. */
  readonly attempt: number;
  /** The result of `getTraceContext` when the job was enqueued. */
  readonly carried: Readonly<Record<string, string>>;
}

/** One provider call. */
export interface ModelCall {
  readonly provider: string;
  /** The provider's name for the model. Absent for polls of a submitted job. */
  readonly model: string | undefined;
  readonly kind:
    | 'chat'
    | 'embeddings'
    | 'image'
    | 'speech'
    | 'sound_effect'
    | 'music'
    | 'video'
    | 'transcription';
  /** True: called with the user's own key. */
  readonly ownKey: boolean;
  readonly maxTokens?: number;
  readonly temperature?: number;
}

/** Observes one model call from its start to its end. */
export interface ModelCallSpan {
  /** Called on the first output. Not called for responses without streaming. */
  began?(): void;
  /** Called exactly once when the call ends. Not called for a stream that is neither read nor cancelled. */
  ended(end: ModelCallEnd): void;
}

/** How a model call ended. */
export interface ModelCallEnd {
  /** `client_closed`: the client disconnected or cancelled. */
  readonly outcome: 'done' | 'client_closed' | 'failed';
  readonly error?: unknown;
  readonly usage?: Usage;
  readonly finishReason?: FinishReason;
  /** The provider's name of the model that answered, if reported: an alias may resolve to a dated version. */
  readonly model?: string;
}

/** A credit movement in micro-credits. The purpose is unknown for holds of another process and for old holds. */
export interface CreditMovement {
  /** `recorded`: usage without a charge, because credits are not enforced. */
  readonly kind: 'held' | 'settled' | 'released' | 'recorded';
  readonly amount: number;
  readonly operation: string | undefined;
  readonly model: string | undefined;
  readonly usage?: Usage;
}

/** A usage report that is not charged in full, with the charge. */
export interface UsageRejection {
  readonly operation: string;
  readonly provider: string;
  readonly model: string;
  readonly reported: Usage;
  readonly charged: Usage;
  /** The charged micro-credits. */
  readonly amount: number;
}
