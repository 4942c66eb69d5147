import type { AgentCard } from '../agents/events.ts';
import type { Payer } from '../call.ts';
import type { ErrorCode } from '../errors.ts';
import { defineCollection, type Json, type StoredRecord } from '../ports/store.ts';
import type { DueCharge } from './charges.ts';
import type { OpenStepNote } from './holds.ts';

export type QuestStatus = 'pending' | 'running' | 'done' | 'stopped';
export type QuestType = 'message' | 'oob' | 'error' | 'system' | 'voice_transcript';

/** Something a tool made for the client to show. */
export interface ToolPayload {
  readonly type: string;
  readonly payload?: Json;
}

/** The type of the payload that shows how far a plan is. */
export const PLAN_PAYLOAD = 'questmaster';

/** A file that a quest has made; it belongs to whoever asked. Its address is signed anew at each read. */
export interface QuestFile {
  readonly name: string;
  readonly fileId: string;
  readonly isImage: boolean;
  readonly isAudio: boolean;
  readonly isVideo: boolean;
}

/** Another model than the requested one has answered. */
export interface FallbackInfo {
  readonly primaryModel: string;
  readonly primaryModelName: string;
  readonly fallbackModel: string;
  readonly fallbackModelName: string;
  /** Why the requested model did not, in words for callers. */
  readonly reason: string;
}

export interface PromptMeta {
  readonly model: string;
  /** Tokens, as completions count them. */
  readonly usage?: Readonly<Record<string, number>>;
  readonly credits?: number;
}

export interface AttachmentDelivery {
  readonly requested: number;
  readonly delivered: number;
  readonly fullyDelivered: boolean;
  readonly dropped: number;
  readonly droppedIds: readonly string[];
}

/** How a quest ended, beside what it has said. */
export interface QuestOutcome {
  readonly type: QuestType;
  /** Shown in place of the text: why it failed. */
  readonly explanation?: string;
  readonly errorCode?: ErrorCode;
}

/** What the next worker must know should this one vanish. */
export interface QuestNotes {
  /** Charges that are certain, settled or about to be. Settling one again does nothing. */
  readonly due?: readonly DueCharge[];
  /** The paid steps under way. */
  readonly steps?: readonly OpenStepNote[];
  /** How the quest is about to end. */
  readonly outcome?: QuestOutcome;
}

/** What a quest has made so far. Readable while it runs. */
export interface QuestProgress {
  /** The answer so far; whole once the quest is done. */
  readonly text?: string;
  /** What the whole came to, when the text tells the way there too. */
  readonly answer?: string;
  /** Rounds of a run that goes step by step. */
  readonly rounds?: number;
  readonly toolPayloads?: readonly ToolPayload[];
  /** The agents that speak in the answer. */
  readonly agents?: readonly AgentCard[];
  readonly images?: readonly string[];
  readonly files?: readonly QuestFile[];
  readonly fallbackInfo?: FallbackInfo;
  readonly promptMeta?: PromptMeta;
  readonly attachmentNotices?: readonly string[];
  readonly attachmentDelivery?: AttachmentDelivery;
  /** Milliseconds by phase. */
  readonly phases?: Readonly<Record<string, number>>;
}

/** What is to be done, as its kind understands it. Plain JSON. */
export interface QuestRequest {
  readonly payer: Payer;
  readonly requestId: string;
}

/** A durable piece of work somebody waits for: one turn of a conversation, one image, one edit. */
export interface QuestRecord extends StoredRecord, QuestProgress {
  /** The kind of job that does it. */
  readonly kind: string;
  readonly sessionId: string;
  /** Who asked. */
  readonly ownerId: string;
  readonly status: QuestStatus;
  readonly type: QuestType;
  readonly errorCode?: ErrorCode;
  /** Why it failed or was stopped; shown in place of the text. */
  readonly explanation?: string;
  readonly request: QuestRequest;
  readonly notes?: QuestNotes;
  /** The job whose worker may write, and under which fence. */
  readonly jobId?: string;
  readonly fence?: number;
  /** When it was accepted, while it has not ended. */
  readonly liveSince?: number;
  readonly createdAt: number;
  readonly updatedAt: number;
}

export const QUESTS = defineCollection<QuestRecord>({
  name: 'quests',
  columns: {
    sessionId: 'text',
    ownerId: 'text',
    status: 'text',
    jobId: 'text',
    fence: 'integer',
    liveSince: 'integer',
  },
  unique: [],
  indexes: [['liveSince'], ['sessionId', 'liveSince']],
});
