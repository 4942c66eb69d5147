import type { Payer } from '../call.ts';
import type { Prices } from '../credits/pricing.ts';
import type { ErrorCode } from '../errors.ts';
import type { Hold, Usage } from '../ports/ledger.ts';
import type { AudioFormat, VideoAspectRatio, VideoResolution } from '../ports/media.ts';
import { defineCollection, type Filter, type Json, type StoredRecord } from '../ports/store.ts';

/**
 * pending -> running -> storing -> succeeded | failed | blocked, and cancelled from pending and running; never back.
 * `reserving`: accepted, and its credit not held yet. Nobody is shown such a one.
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
 * How far the work is with its provider. `submitting`: it is being asked, or was, by somebody who did not live to tell
 * what it said. `submitted`: it has a job. `made`: the result can be fetched. `kept`: it is a file; from here on there is
 * no way but to be paid for and to succeed.
 */
export type GenerationStep = 'submitting' | 'submitted' | 'made' | 'kept';

export interface VideoWish {
  readonly prompt: string;
  readonly mode: 'text_to_video' | 'image_to_video';
  readonly durationSeconds: number;
  readonly aspectRatio: VideoAspectRatio;
  readonly resolution: VideoResolution;
  /** Absent: as the model does it. */
  readonly audio?: boolean;
  /** The first frame. */
  readonly inputImageFileId?: string;
}

export interface MusicWish {
  readonly prompt: string;
  readonly durationSeconds: number;
  readonly instrumental: boolean;
  readonly format: AudioFormat;
}

/** What is asked for, every choice made. Plain JSON. */
export type Wish = VideoWish | MusicWish;

/** A film or a piece of music that a provider is to make. */
export interface GenerationRecord extends StoredRecord {
  readonly kind: 'video' | 'music';
  readonly ownerId: string;
  readonly state: GenerationState;
  readonly step?: GenerationStep;
  readonly source: 'api' | 'studio' | 'agent';
  readonly model: string;
  readonly wish: Wish;
  /** The id of the provider that makes it, whatever becomes of the model. */
  readonly provider: string;
  /** Its own name of the model. */
  readonly providerModel: string;
  /** It is asked with a key of the owner's own. */
  readonly ownKey?: true;
  readonly payer: Payer;
  readonly requestId: string;
  /** Frozen at acceptance. Absent: nothing is metered. */
  readonly prices?: Prices;
  /** Whole micro-credits to be held. */
  readonly reserved: number;
  readonly hold?: Hold;
  /** Which run of a worker has asked the provider: nobody else's answer counts. */
  readonly asker?: string;
  /** When it was asked. */
  readonly askedAt?: number;
  /** The provider's own id of the work. */
  readonly providerJobId?: string;
  /** 0 to 1. */
  readonly progress?: number;
  /** What the provider wants to be given for the result. */
  readonly result?: Json;
  /** Of the result, as far as the provider told. */
  readonly resultSeconds?: number;
  /** Times that the result could not be fetched or kept. */
  readonly failures?: number;
  /** The result, once it is kept. */
  readonly file?: { readonly id: string; readonly mimeType: string };
  /** What is charged for it, once it is kept. Whole micro-credits. */
  readonly due?: { readonly amount: number; readonly usage: Usage };
  readonly settled?: number;
  readonly error?: { readonly code: ErrorCode; readonly message: string };
  /** While it lives: when the keeper looks next after its job and its hold. */
  readonly tendAt?: number | undefined;
  readonly createdAt: number;
  readonly updatedAt: number;
}

export const GENERATIONS = defineCollection<GenerationRecord>({
  name: 'generations',
  columns: {
    kind: 'text',
    ownerId: 'text',
    state: 'text',
    step: 'text',
    source: 'text',
    asker: 'text',
    tendAt: 'integer',
    createdAt: 'integer',
  },
  unique: [],
  indexes: [['ownerId', 'kind', 'createdAt'], ['tendAt']],
});

/** Its owner's, as far as it is to be seen. */
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
