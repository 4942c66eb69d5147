import type { BudgetRecord } from '../credits/budget-rules.ts';
import type { Usage } from '../ports/ledger.ts';
import type { ErrorCode } from '../shared/errors.ts';

/** The user and, where it pays, the organization that an event concerns. */
export interface EventOwner {
  readonly userId?: string;
  /** The organization that pays for the work, or owns the key. */
  readonly organizationId?: string;
}

/** Work that ended. `id` is that of the quest, the agent run or the generation. */
export interface WorkEnded extends EventOwner {
  readonly id: string;
  /** Absent: the work failed or stopped without a code, or succeeded. */
  readonly errorCode?: ErrorCode;
}

/** A turn or image that ended. */
export interface QuestEnded extends WorkEnded {
  readonly sessionId: string;
  /** `chat`, `image-generation` or `image-edit`. */
  readonly kind: string;
}

/** A video or a piece of music that ended. */
export interface GenerationEnded extends WorkEnded {
  readonly kind: 'video' | 'music';
  readonly model: string;
  /** The result. Absent: no file was stored. */
  readonly fileId?: string;
}

/** A paid call whose cost is final. `id` is that of the charge in the ledger. */
export interface ChargeSettled extends EventOwner {
  readonly id: string;
  /** `user:<id>` or `organization:<id>`: the account that pays. */
  readonly account: string;
  /** Absent: the caller signed in. */
  readonly keyId?: string;
  readonly operation: string;
  readonly model?: string;
  readonly requestId?: string;
  /** Tokens by class, and other units. */
  readonly usage: Usage;
  /** Micro-credits. 0 while credits are not enforced. */
  readonly amount: number;
  /** The same amount in credits. */
  readonly credits: number;
}

/** The credit of an account fell below `Settings.creditsLowAt`. */
export interface CreditsLow extends EventOwner {
  /** The account, `user:<id>` or `organization:<id>`. */
  readonly id: string;
  /** Micro-credits, without open holds. */
  readonly available: number;
  /** The same amount in credits. */
  readonly credits: number;
}

/** A sum of a budget reached a part of its limit. The fields are those of `GET /api/budgets/{id}`. */
export interface BudgetThreshold extends EventOwner {
  /** The id of the budget. */
  readonly id: string;
  readonly scope: BudgetRecord['scope'];
  /** Null: everyone. */
  readonly scopeId: string | null;
  readonly unit: BudgetRecord['unit'];
  readonly action: BudgetRecord['action'];
  /** The reached percentage of the limit: 50, 80 or 100. */
  readonly threshold: number;
  /** In units; fractions of credits have up to 6 decimals. */
  readonly limit: number;
  readonly spent: number;
  readonly reserved: number;
  /** ISO 8601. Null: the window `total`. */
  readonly windowStart: string | null;
  readonly windowEnd: string | null;
}

/** An API key was created or revoked. Contains no part of the secret. */
export interface KeyChanged extends EventOwner {
  readonly id: string;
}

export interface UserCreated extends EventOwner {
  readonly id: string;
}

/** The moderation of a file ended. */
export interface FileChecked extends EventOwner {
  readonly id: string;
}

/** A user accepted a share. */
export interface InviteAccepted extends EventOwner {
  readonly id: string;
  /** The kind of the shared resource: the word in its path. */
  readonly resourceType: string;
  readonly resourceId: string;
  readonly invitedBy: string;
}

interface Envelope<Type extends string, Data> {
  /** `evt_` and 24 hexadecimal characters. Every delivery of an event has the same id. */
  readonly id: string;
  readonly type: Type;
  /** Epoch milliseconds. */
  readonly createdAt: number;
  readonly data: Data;
}

/** One member per type, so that `Extract<HostEvent, { type: 'quest.done' }>` finds it. */
type EachEvent<Type extends string, Data> = Type extends string ? Envelope<Type, Data> : never;

/**
 * What happened, by `type`. Delivered to `Settings.onEvent` at least once, after the change is stored. The order of events
 * is not defined. Contains ids and amounts, and neither texts nor secrets.
 */
export type HostEvent =
  | EachEvent<'quest.done' | 'quest.failed' | 'quest.stopped', QuestEnded>
  | EachEvent<'execution.done' | 'execution.failed' | 'execution.stopped', QuestEnded>
  | EachEvent<'generation.done' | 'generation.failed' | 'generation.stopped', GenerationEnded>
  | EachEvent<'charge.settled', ChargeSettled>
  | EachEvent<'credits.low', CreditsLow>
  | EachEvent<'budget.threshold', BudgetThreshold>
  | EachEvent<'key.created' | 'key.revoked', KeyChanged>
  | EachEvent<'user.created', UserCreated>
  | EachEvent<'file.clean' | 'file.blocked', FileChecked>
  | EachEvent<'invite.accepted', InviteAccepted>;

export type EventType = HostEvent['type'];

type WithoutEnvelope<E> = E extends HostEvent ? Omit<E, 'id' | 'createdAt'> : never;

/** An event before it is stored. */
export type NewEvent = WithoutEnvelope<HostEvent> & {
  /** Identifies the change: the same type and key give the same event id. Default: `data.id`. */
  readonly key?: string;
};

/** Passes an event on within the service, e.g. to webhooks. Runs at least once, so it must be idempotent. */
export type EventListener = (event: HostEvent) => Promise<void>;

/** Receives events. A rejection, or no answer within 30 s, repeats the delivery later, for 24 hours. */
export type EventHandler = (event: HostEvent) => void | Promise<void>;
