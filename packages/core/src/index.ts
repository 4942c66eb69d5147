export {
  type AccountServices,
  createCreditsHandler,
  createMeHandler,
  createUsageHandler,
} from './account/handlers.ts';
export type { AgentCard, AgentEvent, AgentEvents, PublishedAgentEvent } from './agents/events.ts';
export { AGENTS, type AgentPersonality, type AgentRecord } from './agents/records.ts';
export { ANALYTICS_EVENTS, type AnalyticsEventRecord } from './analytics/records.ts';
export { type Api, createApi } from './api.ts';
export {
  type ApiKeysServices,
  createChangeApiKeyRateLimitHandler,
  createCreateApiKeyHandler,
  createListApiKeysHandler,
  createRevokeApiKeyHandler,
  createRotateApiKeyHandler,
} from './api-keys/handlers.ts';
export type { ArtifactReaderServices } from './artifacts/access.ts';
export { type ArtifactMakerServices, makeArtifact, type NewArtifact } from './artifacts/artifacts.ts';
export { ARTIFACT_TYPES } from './artifacts/contract.ts';
export {
  type ArtifactServices,
  createCreateArtifactHandler,
  createDeleteArtifactHandler,
  createGetArtifactHandler,
  createGetArtifactVersionHandler,
  createListArtifactsHandler,
  createListArtifactVersionsHandler,
  createUpdateArtifactHandler,
} from './artifacts/handlers.ts';
export { ARTIFACTS, type ArtifactRecord } from './artifacts/records.ts';
export {
  type AudioServices,
  createMusicHandler,
  createSoundEffectHandler,
  createSpeechHandler,
} from './audio/handlers.ts';
export type { Call, Caller, CallOf, KeyCaller, KeySpendCap, TokenCaller } from './call.ts';
export { type ChatServices, createChatHandler } from './chat/handlers.ts';
export type { PromptContext, PromptPart, PromptSource } from './chat/prompt.ts';
export { COLLECTIONS } from './collections.ts';
export {
  type CompletionsServices,
  type CompletionsSettings,
  createCompletionsHandler,
} from './completions/handlers.ts';
export { ConfigurationError } from './configuration.ts';
export * from './credits/amounts.ts';
export * from './credits/estimates.ts';
export * from './credits/pricing.ts';
export * from './credits/usage.ts';
export {
  createCreateDataLakeHandler,
  createDeleteDataLakeHandler,
  createGetDataLakeHandler,
  createListDataLakesHandler,
  createUpdateDataLakeHandler,
  type DataLakeServices,
  dataLakeRoutes,
} from './data-lakes/handlers.ts';
export { LAKE_FILES, LAKES, type LakeFileRecord, type LakeRecord } from './data-lakes/records.ts';
export { createEmbeddingsHandler, type EmbeddingsServices } from './embeddings/handlers.ts';
export { type Alarm, createAlarm } from './engine/alarm.ts';
export { createStoreQueue, JOBS, type JobRecord } from './engine/store-queue.ts';
export { DEFAULT_WORKER_SETTINGS, type RunAgain, type WorkerSettings } from './engine/worker.ts';
export { ApiError, type ErrorCode, type FaultDetail, isApiError, type RefusalOptions } from './errors.ts';
export {
  createCancelExecutionHandler,
  createGetExecutionHandler,
  createStartExecutionHandler,
  type ExecutionServices,
  type StartExecutionServices,
} from './executions/handlers.ts';
export {
  createCreateFileUploadHandler,
  createDeleteFileHandler,
  createGetFileHandler,
  createListFilesHandler,
  createUpdateFileHandler,
  type FileServices,
} from './files/handlers.ts';
export type {
  FileLibrary,
  FileLink,
  GeneratedFile,
  SavedFile,
  SkippedReason,
} from './files/library.ts';
export { createLocalModerator } from './files/moderation/local.ts';
export { createModelModerator, type ModelModeratorOptions } from './files/moderation/model.ts';
export { createModerators } from './files/moderation/verdicts.ts';
export type { AttachableFile, FilesReader } from './files/reader.ts';
export { FILE_USAGE, FILES, type FileRecord, type FileStatus } from './files/records.ts';
export type { FileSettings } from './files/settings.ts';
export { type GenerationServices, generationRoutes } from './generations/handlers.ts';
export {
  GENERATIONS,
  type GenerationRecord,
  type GenerationState,
  type GenerationStep,
} from './generations/records.ts';
export { DEFAULT_GENERATION_SETTINGS, type GenerationSettings } from './generations/settings.ts';
export { createHealthHandler, createPingHandler } from './health/handlers.ts';
export { attachmentDisposition } from './http/disposition.ts';
export { type FetchHandler, type FetchInfo, toFetchHandler } from './http/fetch.ts';
export {
  type ApiBody,
  type ApiHeaders,
  type ApiRequest,
  type ApiResponse,
  type ApiResponseBody,
  BodyTooLarge,
  header,
  type Mountable,
} from './http/message.ts';
export { type MountOptions, toNodeListener } from './http/node.ts';
export {
  type ApiKeyServices,
  type IssuedApiKey,
  issueApiKey,
  type NewApiKey,
  revokeApiKey,
  rotateApiKey,
} from './identity/api-keys.ts';
export { DEFAULT_RATE_LIMITS, type RateLimits } from './identity/rates.ts';
export { API_KEYS, type ApiKeyRecord, USERS, type UserRecord } from './identity/records.ts';
export {
  CONFINED_SCOPES,
  isScope,
  OFFERED_SCOPES,
  SCOPE_PRESETS,
  SCOPES,
  type Scope,
  type ScopePreset,
  scopeListFault,
} from './identity/scopes.ts';
export { hashSecret } from './identity/secrets.ts';
export { createUser, type NewUser } from './identity/users.ts';
export {
  createEditImageHandler,
  createGenerateImageHandler,
  createGenerateImageSimplyHandler,
  type ImageServices,
} from './images/handlers.ts';
export type { Incident } from './incident.ts';
export { filmSize } from './media/film-size.ts';
export {
  createDeleteMementoHandler,
  createListMementosHandler,
  type MementosServices,
} from './mementos/handlers.ts';
export { MEMENTOS, type MementoRecord } from './mementos/records.ts';
export { createListMessagesHandler, type MessagesServices } from './messages/handlers.ts';
export * from './models/catalogue.ts';
export * from './models/demo.ts';
export {
  createApplicationModelsHandler,
  createModelsHandler,
  type ModelsServices,
} from './models/handlers.ts';
export { type ObjectServices, objectRoutes } from './objects/handlers.ts';
export type { ObjectLinks } from './objects/links.ts';
export { createUrlSigner, type SignedGrant, type UrlSigner } from './objects/signed-urls.ts';
export type { UploadWatch } from './objects/uploads.ts';
export type {
  CreditMovement,
  ModelCall,
  ModelCallEnd,
  ModelCallWatch,
  ObservedJob,
  ObservedRequest,
  Observer,
} from './observing/observer.ts';
export { type DescribedOperation, type Description, describeOperations } from './openapi/document.ts';
export { createDescriptionRoutes, type DescriptionServices, type DocsBundle } from './openapi/handlers.ts';
export type { JsonSchema } from './openapi/schemas.ts';
export * from './operation.ts';
export type { AdministrationCheck } from './organizations/membership.ts';
export { ORGANIZATIONS, type OrganizationRecord } from './organizations/records.ts';
export type { PipelineServices } from './pipeline.ts';
export * from './ports/index.ts';
export {
  createCreateProjectHandler,
  createDeleteProjectHandler,
  createGetProjectHandler,
  createListProjectsHandler,
  createUpdateProjectHandler,
  type ProjectServices,
} from './projects/handlers.ts';
export { PROJECTS, type ProjectRecord } from './projects/records.ts';
export {
  KEYED_SERVICES,
  type KeyedService,
  PROVIDER_KEYS,
  type ProviderKeyRecord,
} from './provider-keys/records.ts';
export { QUESTS, type QuestRecord } from './quests/records.ts';
export { codeOfInvite, inviteWithCode } from './registration-invites/codes.ts';
export {
  createCreateRegistrationInvitesHandler,
  createDeleteRegistrationInvitesHandler,
  createListRegistrationInvitesHandler,
  type RegistrationInvitesServices,
} from './registration-invites/handlers.ts';
export {
  type IssuedRegistrationInvite,
  issueRegistrationInvites,
  type NewRegistrationInvites,
} from './registration-invites/issue.ts';
export { REGISTRATION_INVITES, type RegistrationInviteRecord } from './registration-invites/records.ts';
export { type Handler, jsonReply, type OutputOf, Reply } from './reply.ts';
export { defineRoute, type Route } from './route.ts';
export { createServices, type Ports, type Services, type Settings } from './services.ts';
export { canReadSession } from './sessions/access.ts';
export type { LinkKind, LinkReader } from './sessions/links.ts';
export { MESSAGES, type MessageRecord, SESSIONS, type SessionRecord } from './sessions/records.ts';
export type { AdminSettings } from './settings/admin.ts';
export { SHARING_INVITES, type SharingInviteRecord } from './sharing/records.ts';
export {
  createSendCodeHandler,
  createVerifyCodeHandler,
  type SignInServices,
} from './sign-in/handlers.ts';
export { DEFAULT_SIGN_IN_LIMITS, type SignInLimit, type SignInLimits } from './sign-in/limits.ts';
export {
  createIdentifyHandler,
  createLogOutHandler,
  createRefreshTokensHandler,
  type SignedInServices,
} from './sign-in/signed-in.ts';
export type { Skill } from './skills/skill.ts';
export { finalizing, type StreamEnd } from './streams.ts';
export { SUBSCRIPTIONS, type SubscriptionPlan, type SubscriptionRecord } from './subscriptions/records.ts';
export { type Subscriber, type SubscriptionTerms, subscribe } from './subscriptions/subscribe.ts';
export { type ImageHook, type ImageWish, imageTools } from './tools/builtin/image.ts';
export { createToolsHandler, type ToolsServices } from './tools/handlers.ts';
export type {
  Consultation,
  ToolCall,
  ToolContext,
  ToolOffer,
  ToolRegistry,
  ToolResult,
  ToolScope,
} from './tools/registry.ts';
export { answered, defineTool, failed, type Tool, type ToolDefinition } from './tools/tool.ts';
export { createToolbox, joinToolRegistries } from './tools/toolbox.ts';
export {
  createTranscribeAtOnceHandler,
  createTranscriptionHandler,
  createTranscriptionUploadHandler,
  type TranscriptionServices,
} from './transcriptions/handlers.ts';
export { TRANSCRIPTION_UPLOADS, type TranscriptionUploadRecord } from './transcriptions/records.ts';
