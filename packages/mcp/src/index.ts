export type { McpServerOptions } from './options.ts';
export { createMcpTools, type McpTools, type McpToolsOptions } from './tools.ts';
