import type { RunAgain } from '../engine/worker.ts';
import type { ApiRequest, ApiResponse } from '../http/message.ts';
import type { Operation } from '../operation.ts';
import type { Usage } from '../ports/ledger.ts';
import type { FinishReason } from '../ports/models.ts';

/**
 * Told what the service does while it does it, for those who measure or trace it. Every member is optional, and what
 * nobody listens to costs nothing. None of it ever holds a prompt, an answer or a secret, except the request itself.
 */
export interface Observer {
  /** Around every request that reached an operation. Calls `work` once, and answers what it answers. */
  request?(request: ObservedRequest, work: () => Promise<ApiResponse>): Promise<ApiResponse>;
  /** Around every run of a job. Calls `work` once, and answers what it answers. */
  job?(job: ObservedJob, work: () => Promise<RunAgain | undefined>): Promise<RunAgain | undefined>;
  /** A provider is about to be asked. */
  modelCall?(call: ModelCall): ModelCallWatch | undefined;
  /** Credit was moved. */
  credit?(movement: CreditMovement): void;
  /** What the jobs enqueued now are to carry to the day they run, e.g. a `traceparent`: names and short texts. */
  carry?(): Readonly<Record<string, string>> | undefined;
}

export interface ObservedRequest {
  readonly operation: Operation;
  readonly request: ApiRequest;
}

export interface ObservedJob {
  readonly kind: string;
  /** 1 for the first run. */
  readonly attempt: number;
  /** What `carry` gave when it was enqueued. */
  readonly carried: Readonly<Record<string, string>>;
}

/** One question to a provider. */
export interface ModelCall {
  readonly provider: string;
  /** The provider's own name of the model. Absent where a job is asked about that was handed in before. */
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
  /** With the caller's own key. */
  readonly ownKey: boolean;
  readonly maxTokens?: number;
  readonly temperature?: number;
}

export interface ModelCallWatch {
  /** The first of the answer has come. Not told where it comes as a whole. */
  began?(): void;
  /** Told exactly once, unless nobody ever reads the answer or gives it up. */
  ended(end: ModelCallEnd): void;
}

export interface ModelCallEnd {
  /** `left`: nobody wanted the rest. */
  readonly outcome: 'done' | 'left' | 'failed';
  readonly error?: unknown;
  readonly usage?: Usage;
  readonly finishReason?: FinishReason;
  /** The provider's own name of the model that has answered, where it says so: a name asked for may stand for a dated one. */
  readonly model?: string;
}

/** Whole micro-credits on their way. What another process held, or what was held long ago, has no known purpose. */
export interface CreditMovement {
  /** `recorded`: nothing moved, as metering is off; the usage was written down. */
  readonly kind: 'held' | 'settled' | 'released' | 'recorded';
  readonly amount: number;
  readonly operation: string | undefined;
  readonly model: string | undefined;
  readonly usage?: Usage;
}
