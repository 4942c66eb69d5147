import type { Payer } from '../../contract/call.ts';
import type { Prices } from '../../credits/pricing.ts';
import type { Hold, Usage } from '../../ports/ledger.ts';
import type { AudioFormat, VideoAspectRatio, VideoResolution } from '../../ports/media.ts';
import type { Filter, Json, StoredRecord } from '../../ports/store.ts';
import type { ErrorCode } from '../../shared/errors.ts';

/**
 * pending -> running -> storing -> succeeded | failed | blocked, and cancelled from pending and running; never back.
 * `reserving`: accepted, but its credit is not held yet. The API never shows this state.
 */
export type GenerationState =
  | 'reserving'
  | 'pending'
  | 'running'
  | 'storing'
  | 'succeeded'
  | 'failed'
  | 'blocked'
  | 'cancelled';

/**
 * Progress of the work at its provider. `submitting`: a worker is calling the provider, or crashed during the call; the
 * outcome is unknown. `submitted`: the provider has a job. `made`: the result can be fetched. `kept`: the result is
 * stored; from here on the generation can only be charged and succeed.
 */
export type GenerationStep = 'submitting' | 'submitted' | 'made' | 'kept';

export interface VideoInput {
  readonly prompt: string;
  readonly mode: 'text_to_video' | 'image_to_video';
  readonly durationSeconds: number;
  readonly aspectRatio: VideoAspectRatio;
  readonly resolution: VideoResolution;
  /** Absent: the model's default. */
  readonly audio?: boolean;
  /** File id of the first frame. */
  readonly inputImageFileId?: string;
}

export interface MusicInput {
  readonly prompt: string;
  readonly durationSeconds: number;
  readonly instrumental: boolean;
  readonly format: AudioFormat;
}

/** The request with all defaults filled in. Plain JSON. */
export type MediaInput = VideoInput | MusicInput;

/** The generation of a video or a piece of music by a provider. */
export interface GenerationRecord extends StoredRecord {
  readonly kind: 'video' | 'music';
  readonly ownerId: string;
  readonly state: GenerationState;
  readonly step?: GenerationStep;
  readonly source: 'api' | 'studio' | 'agent';
  readonly model: string;
  readonly input: MediaInput;
  /** The id of the provider, which stays known even if the model is removed. */
  readonly provider: string;
  /** The provider's name of the model. */
  readonly providerModel: string;
  /** The provider is called with a key of the owner. */
  readonly ownKey?: true;
  readonly payer: Payer;
  readonly requestId: string;
  /** The prices at acceptance. Absent: unmetered. */
  readonly prices?: Prices;
  /** Whole micro-credits to hold. */
  readonly reserved: number;
  readonly hold?: Hold;
  /** The worker run that submitted it: results of other runs are ignored. */
  readonly submittedBy?: string;
  /** Time of the submission. */
  readonly submittedAt?: number;
  /** The provider's id of the work. */
  readonly providerJobId?: string;
  /** 0 to 1. */
  readonly progress?: number;
  /** The provider's reference to the result. */
  readonly result?: Json;
  /** Seconds of the result, if the provider reports them. */
  readonly resultSeconds?: number;
  /** Failed attempts to fetch or store the result. */
  readonly failures?: number;
  /** The stored result. */
  readonly file?: { readonly id: string; readonly mimeType: string };
  /** The charge, set when the result is stored. Whole micro-credits. */
  readonly due?: { readonly amount: number; readonly usage: Usage };
  readonly settled?: number;
  readonly error?: { readonly code: ErrorCode; readonly message: string };
  /** Until the end: time of the next maintenance of its job and its hold. */
  readonly nextCheckAt?: number | undefined;
  readonly createdAt: number;
  readonly updatedAt: number;
}

/** The owner's generations that the API shows. */
export function visibleTo(
  ownerId: string,
  kind: GenerationRecord['kind'],
): Filter<GenerationRecord> & { readonly ownerId: string } {
  return { ownerId, kind, state: { not: 'reserving' } };
}

export const CANCELLABLE = { in: ['pending', 'running'] } as const;

export function hasEnded({ state }: GenerationRecord): boolean {
  return state === 'succeeded' || state === 'failed' || state === 'blocked' || state === 'cancelled';
}
