import type { AgentCard } from '../contract/agent-card.ts';
import type { Payer } from '../contract/call.ts';
import type { FallbackInfo } from '../models/candidates.ts';
import type { ProviderErrorDetails } from '../models/failures.ts';
import type { FinishReason } from '../ports/models.ts';
import { defineCollection, type Json, type StoredRecord } from '../ports/store.ts';
import type { PromptDetail } from '../prompts/contract.ts';
import type { ErrorCode } from '../shared/errors.ts';
import type { PendingCharge } from './charges.ts';
import type { PaidStepRecord } from './holds.ts';

export type QuestStatus = 'pending' | 'running' | 'waiting' | 'done' | 'stopped';
export type QuestType = 'message' | 'oob' | 'error' | 'system' | 'voice_transcript';

/** A tool result for display in the client. */
export interface ToolPayload {
  readonly type: string;
  readonly payload?: Json;
}

/** The payload type for the progress of a plan. */
export const PLAN_PAYLOAD = 'questmaster';

/** A file created by a quest. The user of the quest owns it. Its URL is signed at each read. */
export interface QuestFile {
  readonly name: string;
  readonly fileId: string;
  readonly isImage: boolean;
  readonly isAudio: boolean;
  readonly isVideo: boolean;
}

export interface PromptMeta {
  readonly model: string;
  /** Tokens, in the classes of completions. */
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

/** The outcome of a quest, without its text. */
export interface QuestOutcome {
  readonly type: QuestType;
  /** The error message, shown instead of the text. */
  readonly explanation?: string;
  readonly errorCode?: ErrorCode;
  readonly providerError?: ProviderErrorDetails;
}

/** The recovery state for the next worker after a crash. */
export interface QuestNotes {
  /** Charges, settled or pending. Settlement is idempotent. */
  readonly due?: readonly PendingCharge[];
  /** The running paid steps. */
  readonly steps?: readonly PaidStepRecord[];
  /** The intended outcome. */
  readonly outcome?: QuestOutcome;
}

/** The partial result of a quest, readable while it runs. */
export interface QuestProgress {
  /** The answer so far; complete when the quest is done. */
  readonly text?: string;
  /** The final result, if the text also contains intermediate steps. */
  readonly answer?: string;
  /** The result in the format of the quest kind, as text. */
  readonly output?: string;
  /** The finish reason of the model. */
  readonly stopReason?: FinishReason;
  /** The number of rounds of an agent run. */
  readonly rounds?: number;
  readonly toolPayloads?: readonly ToolPayload[];
  /** The agents in the answer. */
  readonly agents?: readonly AgentCard[];
  readonly images?: readonly string[];
  readonly files?: readonly QuestFile[];
  readonly fallbackInfo?: FallbackInfo;
  readonly promptMeta?: PromptMeta;
  /** Details of the prompt, if requested. Visible only to the user who requested them. */
  readonly promptDetails?: readonly PromptDetail[];
  /** The visible part of the prompt, encrypted, for the user who requested it. */
  readonly sealedPrompt?: string;
  readonly attachmentNotices?: readonly string[];
  readonly attachmentDelivery?: AttachmentDelivery;
  /** Milliseconds by phase. */
  readonly phases?: Readonly<Record<string, number>>;
}

/** The input, in the format of the quest kind. Plain JSON. */
export interface QuestRequest {
  readonly payer: Payer;
  readonly requestId: string;
}

/** What a user decides about a call. */
export type CallDecision =
  | { readonly type: 'approve' }
  | { readonly type: 'reject'; readonly reason?: string }
  /** Runs the call with another input. */
  | { readonly type: 'edit'; readonly input: Json }
  /** The result of a tool of the client, as text for the model. */
  | { readonly type: 'answer'; readonly output: string; readonly isError: boolean };

/** A tool call that a user decides about. */
export interface WaitingCall {
  /** The round and the position of the call in it: the id of the call in the live events. */
  readonly id: string;
  /** The id of the tool. */
  readonly tool: string;
  /** `approval`: a tool of the server. `answer`: a tool of the client, which gives the result. */
  readonly kind: 'approval' | 'answer';
  readonly input: Json;
  readonly decision?: CallDecision;
}

/** The work waits for decisions. */
export interface QuestPause {
  readonly calls: readonly WaitingCall[];
  /** What the work needs to go on, encrypted. */
  readonly sealedState: string;
}

/** A pause as it is stored, from the first decision that is missing until the work has gone on. */
export interface QuestWait extends QuestPause {
  /** The sequence of the last live event. */
  readonly lastEvent: number;
}

/** A decision that was taken, to recognize a repetition. */
export interface DecidedCall {
  readonly id: string;
  readonly type: CallDecision['type'];
  readonly digest: string;
}

/** A durable unit of work with a result: one turn of a conversation, one image, one edit. */
export interface QuestRecord extends StoredRecord, QuestProgress {
  /** The job kind. */
  readonly kind: string;
  readonly sessionId: string;
  /** The user id of the requester. */
  readonly ownerId: string;
  readonly status: QuestStatus;
  readonly type: QuestType;
  readonly errorCode?: ErrorCode;
  readonly providerError?: ProviderErrorDetails;
  /** The reason of a failure or stop; shown instead of the text. */
  readonly explanation?: string;
  readonly request: QuestRequest;
  readonly notes?: QuestNotes;
  /** Present while the quest waits, and until its work has gone on. */
  readonly wait?: QuestWait;
  /** What its readers had at the last wait, once all calls of it are decided. Absent: decided by an earlier version. */
  readonly lastWait?: { readonly lastEvent: number; readonly textLength: number };
  /** The number of times that the quest went on after it waited. */
  readonly resumed?: number;
  /** The settled charges of the work before the last wait. */
  readonly paid?: readonly PendingCharge[];
  readonly decided?: readonly DecidedCall[];
  /** The job and the fence that may write. */
  readonly jobId?: string;
  readonly fence?: number;
  /** Time of acceptance, or of the last decision, in epoch milliseconds; `WAITING` while it waits; absent after the end. */
  readonly liveSince?: number;
  /** When a reader that may be in another process than the worker last followed the events, in epoch milliseconds. */
  readonly followedAt?: number;
  readonly createdAt: number;
  readonly updatedAt: number;
}

/** A quest as it is accepted, at `now` in epoch milliseconds. @param isFollowed a reader follows it from the beginning. */
export function newQuest(
  quest: Pick<QuestRecord, 'id' | 'kind' | 'sessionId' | 'ownerId' | 'request'>,
  now: number,
  isFollowed = false,
): QuestRecord {
  const record = { ...quest, status: 'pending', type: 'message', liveSince: now, createdAt: now } as const;
  return { ...record, updatedAt: now, ...(isFollowed && { followedAt: now }) };
}

export const QUESTS = defineCollection<QuestRecord>({
  name: 'quests',
  secretFields: { sealedPrompt: true, errorCode: false },
  columns: {
    sessionId: 'text',
    ownerId: 'text',
    status: 'text',
    jobId: 'text',
    fence: 'integer',
    liveSince: 'integer',
    updatedAt: 'integer',
  },
  unique: [],
  indexes: [['liveSince'], ['sessionId', 'liveSince']],
});
