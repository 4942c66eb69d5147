'use client';

export type { ConversationMessage, ConversationState, MessageOptions } from './conversation-store.ts';
export type { CreditsState } from './credits-store.ts';
export type { GenerationKind, GenerationTypes } from './generation-kinds.ts';
export type { GenerationState } from './generation-store.ts';
export { QuestlineProvider, type QuestlineProviderProps, useQuestline } from './provider.ts';
export type { Decision } from './quest-reader.ts';
export type { PendingApproval, QuestState, ToolPayload, ToolUse } from './quest-state.ts';
export type { UploadState } from './upload-store.ts';
export { type Conversation, type ConversationOptions, useConversation } from './use-conversation.ts';
export { type Credits, useCredits } from './use-credits.ts';
export { type Generation, type GenerationOptions, useGeneration } from './use-generation.ts';
export { type QuestHandle, useQuest } from './use-quest.ts';
export { type Upload, useUpload } from './use-upload.ts';
