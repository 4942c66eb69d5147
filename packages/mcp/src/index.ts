export { createToolServersApi, type ToolServersApiOptions } from './oauth/api.ts';
export type { BegunAuthorization } from './oauth/begin.ts';
export type { AuthorizationAnswer } from './oauth/finish.ts';
export type { ToolServerAccess, ToolServerOAuth } from './oauth/oauth.ts';
export type { OAuthClient, OAuthOptions } from './oauth/options.ts';
export type { McpServerOptions, Refusal, ToolUser, UserAuthorization } from './options.ts';
export { createMcpTools, type McpTools, type McpToolsOptions } from './tools.ts';
