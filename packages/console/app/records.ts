/** The parts of the api's records that this app shows. */

export interface User {
  readonly _id: string;
  readonly username: string;
  readonly email: string;
  readonly isAdmin: boolean;
}

export interface Session {
  readonly id: string;
  readonly name: string;
  readonly lastUpdated: string;
}

export interface Message {
  readonly id: string;
  readonly role: 'user' | 'assistant';
  readonly content: string;
  readonly questId: string | null;
}

export interface ToolPayload {
  readonly type: string;
  readonly payload?: unknown;
}

export interface Quest {
  readonly id: string;
  readonly status: 'pending' | 'running' | 'done' | 'stopped';
  readonly type: string;
  readonly reply: string | null;
  readonly toolPayloads: readonly ToolPayload[];
  readonly files?: readonly QuestFile[];
  readonly promptMeta?: { readonly model: string; readonly credits?: number };
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
  /** Tokens by their class. */
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
  readonly trigger_words: readonly string[];
  readonly is_owner: boolean;
}

export interface DataLake {
  readonly id: string;
  readonly name: string;
  readonly description: string | null;
  readonly status: string;
  readonly file_count: number;
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
  /** Null: the server keeps none. */
  readonly code: string | null;
  readonly usesLeft: number | null;
  readonly createdAt: string;
}

export interface Setting {
  readonly settingName: string;
  readonly settingValue: unknown;
}

export interface CursorPage<T> {
  readonly data: readonly T[];
  readonly next_cursor: string | null;
}
