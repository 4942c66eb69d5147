/**
 * Parts for the other packages of Questline and for tests. Without a promise of stability: a name may change or disappear in
 * any release.
 */
export type { LinkKind, LinkReader } from './access/links.ts';
export type { ChargeBatch } from './app/charge-archive.ts';
export {
  type Conversation,
  type Conversations,
  type ConversationsServices,
  createConversations,
} from './app/conversations.ts';
export { applyRetention, type RetentionResult } from './app/retention.ts';
export { createRoutes } from './app/routes.ts';
export { type MountedRoute, selectRoutes } from './app/selection.ts';
export type { AgentCard } from './contract/agent-card.ts';
export { isBase64 } from './contract/base64.ts';
export { type Call, getPayer, type KeyCaller, type KeySpendCap, type TokenCaller } from './contract/call.ts';
export { decodeCursor, encodeCursor } from './contract/cursor.ts';
export { isId } from './contract/identifiers.ts';
export { jsonObject, list } from './contract/lists.ts';
export {
  type ApiBody,
  type ApiHeaders,
  type ApiResponseBody,
  BodyTooLarge,
  header,
} from './contract/message.ts';
export {
  type Auth,
  type ErrorFamily,
  type ErrorFormat,
  getUserRateClass,
  type Method,
  type OperationInput,
  type OwnerRule,
  type RateRule,
  type ResponseDescription,
  type UserRateClass,
  type ValidatedInput,
} from './contract/operation.ts';
export type { OperationOutput } from './contract/reply.ts';
export {
  CONFINED_SCOPES,
  getScopeListIssue,
  isScope,
  OFFERED_SCOPES,
  SCOPE_PRESETS,
  SCOPES,
  type ScopePreset,
} from './contract/scopes.ts';
export { text } from './contract/text.ts';
export { assertAccount } from './credits/accounts.ts';
export { defaultCreditsPerUsd, microCreditsPerCredit, toUsd } from './credits/amounts.ts';
export { BUDGETS, type BudgetRecord } from './credits/budget-rules.ts';
export {
  estimateInput,
  estimateTokens,
  type PromptSize,
  promptSize,
  reservation,
} from './credits/estimates.ts';
export { assertHoldCaps, countTokens, getSettledAmount } from './credits/hold-caps.ts';
export { charge, type PricedTier, type Prices, priceModel, pricesAt } from './credits/pricing.ts';
export {
  type CallCost,
  type CallEnd,
  type EndedCall,
  isSaneUsage,
  type LeftCall,
  type MeteredCall,
  meterCall,
  meterLeftCall,
} from './credits/usage.ts';
export { BUDGET_NOTICES, EVENT_OUTBOX, LOW_CREDITS, type OutboxRecord } from './events/records.ts';
export {
  type AccountServices,
  createCreditsHandler,
  createMeHandler,
  createUsageHandler,
} from './features/account/handlers.ts';
export {
  createCancelExecutionHandler,
  createGetExecutionHandler,
  createStartExecutionHandler,
  type ExecutionServices,
  type StartExecutionServices,
} from './features/agent-runs/handlers.ts';
export { STEPS } from './features/agent-runs/records.ts';
export type { AgentEvent, AgentEvents, PublishedAgentEvent } from './features/agents/events.ts';
export { AGENTS, type AgentPersonality, type AgentRecord } from './features/agents/records.ts';
export { ANALYTICS_EVENTS, type AnalyticsEventRecord } from './features/analytics/records.ts';
export {
  type ApiKeysServices,
  createChangeApiKeyRateLimitHandler,
  createCreateApiKeyHandler,
  createListApiKeysHandler,
  createRevokeApiKeyHandler,
  createRotateApiKeyHandler,
} from './features/api-keys/handlers.ts';
export type { ArtifactReaderServices } from './features/artifacts/access.ts';
export {
  type ArtifactMakerServices,
  makeArtifact,
  type NewArtifact,
} from './features/artifacts/artifacts.ts';
export { ARTIFACT_TYPES } from './features/artifacts/contract.ts';
export {
  type ArtifactServices,
  createCreateArtifactHandler,
  createDeleteArtifactHandler,
  createGetArtifactHandler,
  createGetArtifactVersionHandler,
  createListArtifactsHandler,
  createListArtifactVersionsHandler,
  createUpdateArtifactHandler,
} from './features/artifacts/handlers.ts';
export { ARTIFACT_VERSIONS, ARTIFACTS, type ArtifactRecord } from './features/artifacts/records.ts';
export {
  type AudioServices,
  createMusicHandler,
  createSoundEffectHandler,
  createSpeechHandler,
} from './features/audio/handlers.ts';
export { type SpeechServices, speak } from './features/audio/speak.ts';
export { type TranscribingServices, transcribe } from './features/audio/transcribe.ts';
export { MAX_BYTES as MAX_RECORDING_BYTES } from './features/audio/transcriptions-contract.ts';
export {
  createTranscribeAtOnceHandler,
  createTranscriptionHandler,
  createTranscriptionUploadHandler,
  type TranscriptionServices,
} from './features/audio/transcriptions-handlers.ts';
export {
  TRANSCRIPTION_UPLOADS,
  type TranscriptionUploadRecord,
} from './features/audio/transcriptions-records.ts';
export type { ChatServices } from './features/chat/handlers.ts';
export { createUiChatHandler } from './features/chat/ui-handlers.ts';
export type { AskedCompletion } from './features/completions/answer.ts';
export {
  type ConversationEntry,
  type EntryRange,
  toEntryId,
} from './features/completions/conversations/entries.ts';
export {
  CONVERSATION_ENTRIES,
  CONVERSATIONS,
  type ConversationEntryRecord,
  type ConversationRecord,
  MAX_CONVERSATION_CHARACTERS,
  MAX_CONVERSATION_ITEMS,
} from './features/completions/conversations/records.ts';
export { checkUnlocked } from './features/completions/conversations/turns.ts';
export type { CompletionEncoder, CompletionEnd } from './features/completions/encoder.ts';
export type { CompletionsServices, CompletionsSettings } from './features/completions/handlers.ts';
export type { ResponseWriter } from './features/completions/responses/follow.ts';
export { RESPONSES, type ResponseRecord } from './features/completions/responses/records.ts';
export {
  createResponses,
  type Responses,
  type ResponsesServices,
} from './features/completions/responses/responses.ts';
export type { StoredResponse } from './features/completions/responses/stored.ts';
export {
  type CompletionRunServices,
  readCompletion,
  streamCompletion,
} from './features/completions/run.ts';
export { checkApprovals } from './features/completions/server-tools/approvals.ts';
export type {
  ApprovedCall,
  ServerTool,
  ServerToolScope,
  ServerToolServices,
  ServerTools,
  ToolServerList,
} from './features/completions/server-tools/tools.ts';
export { STORED_COMPLETIONS, toCompletionId } from './features/completions/stored/records.ts';
export { fromWireThinking, toWireThinking } from './features/completions/thinking.ts';
export {
  answerOverWire,
  CREDITS_HEADER,
  findChatModel,
  findIgnoredByProvider,
  IGNORED_HEADER,
  prepareAnswer,
  toAskedCompletion,
  toWireCredits,
  type WireAnswerServices,
  type WireCredits,
} from './features/completions/wires/answer.ts';
export { toVendorStatus, unknownModel } from './features/completions/wires/errors.ts';
export type { MediaLoader } from './features/completions/wires/media.ts';
export { createWire, type WireApi, type WireServices } from './features/completions/wires/mount.ts';
export { answerOnce, type OnceServices } from './features/completions/wires/once.ts';
export {
  getThinkingText,
  isPackedThinking,
  packThinking,
  unpackThinking,
} from './features/completions/wires/portable-thinking.ts';
export { readRateWindow } from './features/completions/wires/rate-window.ts';
export {
  createCreateDataLakeHandler,
  createDeleteDataLakeHandler,
  createGetDataLakeHandler,
  createListDataLakesHandler,
  createUpdateDataLakeHandler,
  type DataLakeServices,
  dataLakeRoutes,
} from './features/data-lakes/handlers.ts';
export { LAKE_FILES, LAKES, type LakeFileRecord, type LakeRecord } from './features/data-lakes/records.ts';
export {
  createDescribeDeviceLoginHandler,
  createInitiateDeviceLoginHandler,
  createPollDeviceLoginHandler,
  createRenewDeviceTokensHandler,
  createVerifyDeviceLoginHandler,
  type DeviceLoginServices,
} from './features/device-login/handlers.ts';
export { DEVICE_LOGINS, type DeviceLoginRecord } from './features/device-login/records.ts';
export {
  answerEmbeddings,
  createEmbeddingsHandler,
  type EmbeddingsServices,
} from './features/embeddings/handlers.ts';
export {
  DEFAULT_DOCUMENT_SETTINGS,
  type DocumentReader,
  type DocumentSettings,
  MAX_READ_ATTEMPTS,
  type ReadOutcome,
} from './features/files/documents.ts';
export {
  createCreateFileUploadHandler,
  createDeleteFileHandler,
  createGetFileHandler,
  createListFilesHandler,
  createUpdateFileHandler,
  type FileServices,
  removeFile,
} from './features/files/handlers.ts';
export type {
  FileLibrary,
  FileLink,
  GeneratedFile,
  SavedFile,
  SkippedReason,
} from './features/files/library.ts';
export type { ModelModeratorOptions } from './features/files/moderation/model.ts';
export { type ObjectServices, objectRoutes } from './features/files/objects-handlers.ts';
export type { ObjectLinks } from './features/files/objects-links.ts';
export type { UploadWatch } from './features/files/objects-uploads.ts';
export { createOwnerTurns, type OwnerTurns } from './features/files/owner-turns.ts';
export type { AttachableFile, FilesReader } from './features/files/reader.ts';
export { FILE_USAGE, FILES, type FileRecord, type FileStatus } from './features/files/records.ts';
export type { FileSettings } from './features/files/settings.ts';
export { createUrlSigner, type SignedGrant, type UrlSigner } from './features/files/signed-urls.ts';
export { TRANSFERS, type TransferRecord } from './features/files/transfers.ts';
export { checkAnnounced } from './features/files/uploads.ts';
export { createHealthHandler, createPingHandler } from './features/health/handlers.ts';
export { type ImagesAtOnceServices, makeImagesAtOnce } from './features/images/at-once.ts';
export {
  createEditImageHandler,
  createGenerateImageHandler,
  createGenerateImageSimplyHandler,
  type ImageServices,
} from './features/images/handlers.ts';
export { type GenerationServices, generationRoutes } from './features/media-jobs/handlers.ts';
export {
  type GenerationRecord,
  type GenerationState,
  type GenerationStep,
  hasEnded as hasGenerationEnded,
} from './features/media-jobs/records.ts';
export { DEFAULT_GENERATION_SETTINGS, type GenerationSettings } from './features/media-jobs/settings.ts';
export { GENERATIONS, getGenerations, type StoredGeneration } from './features/media-jobs/stored.ts';
export { videoSize } from './features/media-jobs/video-size.ts';
export {
  createDeleteMementoHandler,
  createListMementosHandler,
  type MementosServices,
} from './features/mementos/handlers.ts';
export { MEMENTOS, type MementoRecord } from './features/mementos/records.ts';
export {
  createApplicationModelsHandler,
  createModelsHandler,
  type ModelsServices,
} from './features/models/handlers.ts';
export { vendorModelRoutes } from './features/models/vendor-models.ts';
export type { AdministrationCheck } from './features/organizations/membership.ts';
export { ORGANIZATIONS, type OrganizationRecord } from './features/organizations/records.ts';
export type { Subscriber, SubscriptionInput } from './features/organizations/subscribe.ts';
export {
  SUBSCRIPTIONS,
  type SubscriptionPlan,
  type SubscriptionRecord,
} from './features/organizations/subscriptions-records.ts';
export {
  createCreateProjectHandler,
  createDeleteProjectHandler,
  createGetProjectHandler,
  createListProjectsHandler,
  createUpdateProjectHandler,
  type ProjectServices,
} from './features/projects/handlers.ts';
export { PROJECTS, type ProjectRecord } from './features/projects/records.ts';
export type { QuestServices } from './features/quests/handlers.ts';
export { MCP_TASKS, type McpTaskRecord } from './features/quests/mcp-tasks.ts';
export { canReadSession } from './features/sessions/access.ts';
export { createListMessagesHandler, type MessagesServices } from './features/sessions/messages-handlers.ts';
export { MESSAGES, type MessageRecord, SESSIONS, type SessionRecord } from './features/sessions/records.ts';
export { SHARING_INVITES, type SharingInviteRecord } from './features/sharing/records.ts';
export { CHALLENGES } from './features/sign-in/challenges.ts';
export { EXTERNAL_IDS, type ExternalIdRecord } from './features/sign-in/external-ids.ts';
export { SIGN_IN_GUARDS } from './features/sign-in/guards.ts';
export {
  createSendCodeHandler,
  createVerifyCodeHandler,
  type SignInServices,
} from './features/sign-in/handlers.ts';
export { codeOfInvite, inviteWithCode } from './features/sign-in/invite-codes.ts';
export { REGISTRATION_INVITES, type RegistrationInviteRecord } from './features/sign-in/invite-records.ts';
export {
  createCreateRegistrationInvitesHandler,
  createDeleteRegistrationInvitesHandler,
  createListRegistrationInvitesHandler,
  type RegistrationInvitesServices,
} from './features/sign-in/invites-handlers.ts';
export {
  type IssuedRegistrationInvite,
  issueRegistrationInvites,
  type NewRegistrationInvites,
} from './features/sign-in/issue-invites.ts';
export { DEFAULT_SIGN_IN_LIMITS, type SignInLimit, type SignInLimits } from './features/sign-in/limits.ts';
export {
  createIdentifyHandler,
  createLogOutHandler,
  createRefreshTokensHandler,
  type SignedInServices,
} from './features/sign-in/signed-in.ts';
export { TOKEN_FAMILIES } from './features/sign-in/token-families.ts';
export {
  DEFAULT_STORAGE_QUOTAS,
  STORAGE_USAGE,
  type StorageKind,
  type StorageQuotas,
  type StorageUsageRecord,
} from './features/storage/usage.ts';
export type { ImageInput } from './features/tools/builtin/image.ts';
export {
  TOOL_AUTHORIZATIONS,
  TOOL_CLIENTS,
  TOOL_CREDENTIALS,
  type ToolCredentialRecord,
} from './features/tools/credential-records.ts';
export { createToolsHandler, type ToolsServices } from './features/tools/handlers.ts';
export {
  WEBHOOK_DELIVERIES,
  WEBHOOKS,
  type WebhookDeliveryRecord,
  type WebhookRecord,
} from './features/webhooks/records.ts';
export { replayDelivery } from './features/webhooks/replay.ts';
export { WEBHOOK_TYPES } from './features/webhooks/types.ts';
export { attachmentDisposition } from './http/disposition.ts';
export type { FetchInfo } from './http/fetch.ts';
export { readForm, textOfPart } from './http/multipart.ts';
export { DONE, frame, KEEP_ALIVE, STREAM_HEADERS } from './http/sse.ts';
export type { ApiKeyServices } from './identity/api-keys.ts';
export { DEFAULT_IDENTITY_SETTINGS, type IdentitySettings } from './identity/host-callers.ts';
export { API_KEYS, type ApiKeyRecord } from './identity/records.ts';
export { DEFAULT_TOKEN_LIFETIMES, type TokenLifetimes } from './identity/tokens.ts';
export { createJobNotifier, type JobNotifier } from './jobs/job-notifier.ts';
export { createStoreQueue, JOBS, type JobRecord } from './jobs/store-queue.ts';
export { DEFAULT_WORKER_SETTINGS, type WorkerSettings } from './jobs/worker-settings.ts';
export type { GetCatalogue } from './models/allowed-models.ts';
export { fallbackModels } from './models/candidates.ts';
export {
  type CatalogueEntry,
  type CatalogueOptions,
  createCatalogue,
  type ModelCatalogue,
} from './models/catalogue.ts';
export { findDefaultChatModel, findDefaultImageModel, orderByPrice } from './models/default-model.ts';
export type { DemoProviderOptions } from './models/demo.ts';
export { parseDay } from './models/model-dates.ts';
export { defaultOutputCap, withinModel } from './models/output-cap.ts';
export { cacheHints } from './models/prompt-cache.ts';
export {
  KEYED_SERVICES,
  type KeyedService,
  PROVIDER_KEYS,
  type ProviderKeyRecord,
} from './models/provider-keys-records.ts';
export { describeRetired } from './models/retired.ts';
export { createSecretBox } from './models/secret-box.ts';
export { REJECTED_USAGE, type RejectedUsageRecord } from './models/usage-records.ts';
export { isUsageReportRejected, UsageReportRejected } from './models/usage-reports.ts';
export { type AdminSettings, adminSettings, DEFAULT_ADMIN_SETTINGS } from './operations/admin-settings.ts';
export {
  type AuditedStore,
  actingAs,
  actingFor,
  getActor,
  type NewAuditEntry,
  recordAudit,
} from './operations/audit.ts';
export { auditGrants, recoverGrants } from './operations/audit-grants.ts';
export { AUDIT_LOG, type AuditActor, type AuditRecord, GRANT_INTENTS } from './operations/audit-records.ts';
export { checkScopes } from './operations/gate.ts';
export { type Idempotency, REPLAYED_HEADER } from './operations/idempotency.ts';
export { IDEMPOTENCY } from './operations/idempotency-records.ts';
export {
  type DescribedOperation,
  type Description,
  describeOperations,
} from './operations/openapi/document.ts';
export {
  createDescriptionRoutes,
  type DescriptionServices,
  type DocsBundle,
} from './operations/openapi/handlers.ts';
export type { JsonSchema } from './operations/openapi/schemas.ts';
export { DEFAULT_PAID_CALLS_PER_DAY } from './operations/paid-calls.ts';
export { baseHeaders, type PipelineServices, refuse } from './operations/pipeline.ts';
export { DEFAULT_RATE_LIMITS, type RateLimits } from './operations/rates.ts';
export {
  MAX_NEWEST,
  type NewestSettings,
  RETENTION_KINDS,
  type RetentionKind,
  type RetentionSettings,
} from './operations/retention.ts';
export { createRouter } from './operations/router.ts';
export type { PromptContext, PromptPart, PromptSource } from './prompts/prompt.ts';
export { type EventBatch, joinBatches, toPage } from './runs/event-batches.ts';
export { QUESTS, type QuestRecord } from './runs/records.ts';
export { createStoreEventLog, EVENT_BATCHES, type EventBatchRecord } from './runs/store-event-log.ts';
export { QUEST_TEXTS, type TextPieceRecord } from './runs/text-pieces.ts';
export { DEFAULT_LINE_SETTINGS } from './runs/work-line.ts';
export { countCharacters } from './shared/characters.ts';
export { type IssueDetail, isCreditCode, storageAway } from './shared/errors.ts';
export { hashSecret } from './shared/secrets.ts';
export { finalizing, type StreamEnd } from './shared/streams.ts';
export { joinToolRegistries } from './tools/toolbox.ts';
