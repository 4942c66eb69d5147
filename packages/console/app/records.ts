/** The fields of API records that this app shows. */

export interface User {
  readonly _id: string;
  readonly username: string;
  readonly email: string;
  readonly firstName: string | null;
  readonly lastName: string | null;
  readonly isAdmin: boolean;
  readonly organizationId?: string | null;
  /** Present for administrators, where the server has it. */
  readonly disabled?: boolean;
}

export interface Session {
  readonly id: string;
  readonly name: string;
  /** The owner. */
  readonly userId: string;
  readonly lastUpdated: string;
  readonly agentIds: readonly string[];
  readonly lastUsedModel: string | null;
  readonly projectId: string | null;
}

export interface Message {
  readonly id: string;
  readonly role: 'user' | 'assistant';
  readonly content: string;
  readonly questId: string;
}

export interface ToolPayload {
  readonly type: string;
  readonly payload?: unknown;
}

export interface Quest {
  readonly id: string;
  readonly status: 'pending' | 'running' | 'waiting' | 'done' | 'stopped';
  readonly type: string;
  readonly reply: string | null;
  readonly toolPayloads: readonly ToolPayload[];
  readonly pendingApprovals?: readonly PendingApproval[] | undefined;
  readonly files?: readonly QuestFile[] | undefined;
  readonly errorCode?: string | undefined;
  readonly stopReason?: string | undefined;
  readonly fallbackInfo?: { readonly primaryModelName: string } | undefined;
  readonly promptMeta?:
    | {
        readonly model: string;
        readonly credits?: number | undefined;
        readonly usage?: Readonly<Record<string, number>> | undefined;
      }
    | undefined;
}

/** A tool call that waits for a decision. */
export interface PendingApproval {
  readonly callId: string;
  readonly tool: string;
  readonly kind: 'approval' | 'answer';
  readonly input?: unknown;
  readonly decision?: 'approve' | 'reject' | 'edit' | 'answer' | undefined;
}

export interface QuestFile {
  readonly name: string;
  readonly url: string;
  readonly isImage: boolean;
  readonly isAudio: boolean;
  readonly isVideo: boolean;
}

export interface Model {
  readonly id: string;
  readonly name: string;
  readonly type: string;
  readonly backend: string;
}

export interface ApiKey {
  readonly id: string;
  readonly name: string;
  readonly keyPrefix: string;
  readonly scopes: readonly string[];
  readonly status: string;
  readonly expiresAt: string | null;
  readonly lastUsedAt: string | null;
  readonly createdAt: string;
}

export interface Spending {
  readonly id: string;
  readonly created_at: string;
  readonly operation: string;
  readonly model: string | null;
  readonly status: string;
  readonly credits: number;
  /** Tokens per class. */
  readonly usage?: Readonly<Record<string, number>> | null;
}

export interface Usage {
  readonly credits: { readonly balance: number; readonly reserved: number };
  readonly spend: { readonly last_24h: number; readonly last_30d: number };
  readonly recent: readonly Spending[];
}

export interface WorkspaceFile {
  readonly id: string;
  readonly file_name: string;
  readonly mime_type: string;
  readonly file_size: number;
  readonly moderation_status: string;
  readonly download_url?: string | null;
  readonly created_at: string;
}

export interface Agent {
  readonly id: string;
  readonly name: string;
  readonly description: string;
  readonly system_prompt: string | null;
  readonly preferred_model: string | null;
  readonly temperature: number | null;
  /** Null: all. */
  readonly allowed_tools: readonly string[] | null;
  readonly trigger_words: readonly string[];
  readonly is_owner: boolean;
}

/** The publication of an agent. */
export interface AgentPublication {
  readonly id: string;
  readonly isPublic: boolean;
  readonly publication: 'private' | 'pending' | 'published' | 'refused';
}

/** An agent with what the two lists of the API know about it. */
export type ListedAgent = Agent & Partial<Pick<AgentPublication, 'isPublic' | 'publication'>>;

/** An agent that waits for an administrator. */
export interface AgentSubmission extends AgentPublication {
  readonly name: string;
  readonly description: string;
  readonly systemPrompt: string | null;
  readonly triggerWords: readonly string[];
  readonly updatedAt: string;
}

export interface DataLake {
  readonly id: string;
  readonly name: string;
  readonly description: string | null;
  readonly status: string;
  readonly file_count: number;
}

/** A file in a data lake. */
export interface LakeFile {
  readonly file_id: string;
  readonly file_name: string;
  readonly ingestion_status: string;
  readonly chunk_count: number;
  /** Why the file could not be read; null without a problem. */
  readonly error: string | null;
}

export interface Found {
  readonly chunk_id: string;
  readonly file_name: string;
  readonly chunk_text: string;
  readonly score: number;
}

export interface GenerationModel {
  readonly id: string;
  readonly display_name: string;
}

export interface Generation {
  readonly id: string;
  readonly state: string;
  readonly model: string;
  readonly prompt: string;
  readonly progress: number | null;
  readonly error: { readonly message: string } | null;
  readonly output: {
    readonly availability: string;
    readonly url: string | null;
    readonly content_type: string;
  } | null;
  readonly credits: { readonly reserved: number | null; readonly settled: number | null };
  readonly created_at: string;
}

export interface Invite {
  readonly _id: string;
  /** Null: the server does not store the code. */
  readonly code: string | null;
  readonly usesLeft: number | null;
  readonly createdAt: string;
}

export interface Setting {
  readonly settingName: string;
  readonly settingValue: unknown;
}

export type Permission = 'read' | 'write';

export interface CursorPage<T> {
  readonly data: readonly T[];
  readonly next_cursor: string | null;
}

export interface ProviderKey {
  readonly _id: string;
  readonly name: string;
  readonly service: string;
  /** The last four characters. */
  readonly keyPreview: string;
  readonly isActive: boolean;
  readonly lastUsedAt: string | null;
}

export interface Project {
  readonly id: string;
  readonly owner_id: string;
  readonly name: string;
  readonly description: string;
  readonly session_ids: readonly string[];
  readonly file_ids: readonly string[];
  readonly updated_at: string;
}

export interface Artifact {
  readonly id: string;
  readonly owner_id: string;
  readonly type: string;
  readonly title: string;
  readonly description: string | null;
  readonly version: number;
  readonly status: string;
  readonly visibility: string;
  readonly tags: readonly string[];
  readonly updated_at: string;
  /** Null in lists. */
  readonly content: string | null;
}

export interface ArtifactVersion {
  readonly version: number;
  readonly created_at: string;
  readonly content: string | null;
}

export interface Organization {
  readonly _id: string;
  readonly name: string;
  readonly description: string | null;
  readonly memberCount: number;
  readonly ownerId?: string;
  /** Absent or null: all. */
  readonly models?: readonly string[] | null;
}

export interface Budget {
  readonly id: string;
  readonly name: string;
  readonly scope: 'key' | 'user' | 'organization' | 'project' | 'everyone';
  readonly scopeId: string | null;
  readonly models: readonly string[] | null;
  readonly window: string;
  readonly timeZone: string;
  readonly limit: { readonly unit: string; readonly amount: number };
  readonly action: 'refuse' | 'notify';
  readonly ownKeys: 'count' | 'ignore';
  readonly editable: boolean;
  readonly spent: number;
  readonly reserved: number;
  readonly left: number;
  readonly windowEnd: string | null;
}

export interface Webhook {
  readonly id: string;
  readonly url: string;
  readonly description: string;
  readonly types: readonly string[];
  readonly status: 'active' | 'disabled';
  readonly disabledFor: string | null;
  readonly lastSuccessAt: string | null;
  readonly previousSecretUntil: string | null;
}

export interface WebhookDelivery {
  readonly id: string;
  readonly eventId: string;
  readonly type: string;
  readonly status: 'pending' | 'delivered' | 'failed';
  readonly attempts: number;
  readonly lastStatus: number | null;
  readonly lastFailure: string | null;
  readonly nextAttemptAt: string | null;
  readonly createdAt: string;
}

/** An invite to a shared thing. */
export interface ResourceInvite {
  readonly _id: string;
  readonly type: string;
  readonly email: string;
  readonly permission: Permission;
  readonly status: string;
  readonly createdAt: string;
  readonly resource?: { readonly name: string };
  /** Null: the account is deleted. */
  readonly sender?: { readonly name: string; readonly email: string } | null;
}

/** A model of any kind, as the public API lists it. */
export interface ListedModel {
  readonly id: string;
  readonly name: string;
  readonly type: string;
}
