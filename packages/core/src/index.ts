/** What a host needs to mount and extend Questline. Interfaces to implement: `@questline/core/ports`. */
export { type Api, type ApiOptions, createApi } from './app/api.ts';
export { COLLECTIONS } from './app/collections.ts';
export { ConfigurationError } from './app/configuration-error.ts';
export { createServices } from './app/create-services.ts';
export type { Ports } from './app/ports.ts';
export type { OperationSelection } from './app/selection.ts';
export type { Services } from './app/services.ts';
export type { Settings } from './app/settings.ts';
export type { Caller, OperationCall } from './contract/call.ts';
export type { ApiRequest, ApiResponse, Mountable } from './contract/message.ts';
export { defineOperation, type Operation } from './contract/operation.ts';
export { type Handler, jsonReply, Reply } from './contract/reply.ts';
export type { Scope } from './contract/scopes.ts';
export { fromCredits, toCredits } from './credits/amounts.ts';
export type { EventHandler, HostEvent } from './events/event.ts';
export { createChatHandler } from './features/chat/handlers.ts';
export { createCompletionsHandler } from './features/completions/handlers.ts';
export { createLocalModerator } from './features/files/moderation/local.ts';
export { createModelModerator } from './features/files/moderation/model.ts';
export { createModerators } from './features/files/moderation/verdicts.ts';
export { subscribe } from './features/organizations/subscribe.ts';
export { createQuestPoller } from './features/quests/handlers.ts';
export { type ImageHook, imageTools } from './features/tools/builtin/image.ts';
export type { Skill } from './features/tools/skill.ts';
export { type FetchHandler, toFetchHandler } from './http/fetch.ts';
export { type MountOptions, toNodeListener } from './http/node.ts';
export {
  type IssuedApiKey,
  issueApiKey,
  type NewApiKey,
  revokeApiKey,
  rotateApiKey,
} from './identity/api-keys.ts';
export type { Authenticator } from './identity/credentials.ts';
export { USERS, type UserRecord } from './identity/records.ts';
export { createUser, type NewUser } from './identity/users.ts';
export type { ModelOverride } from './models/catalogue.ts';
export { createDemoProvider } from './models/demo.ts';
export { defineRoute, type Route } from './operations/route.ts';
export { ApiError, type ApiErrorOptions, type ErrorCode, isApiError } from './shared/errors.ts';
export type { Incident } from './shared/incident.ts';
export type { ToolContext, ToolResult } from './tools/registry.ts';
export { answered, defineTool, failed, type Tool, type ToolDefinition } from './tools/tool.ts';
export { createToolbox } from './tools/toolbox.ts';
