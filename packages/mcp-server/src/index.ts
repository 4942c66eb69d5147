export { createMcpApi, type McpApiOptions } from './api.ts';
export { createMcpMetadata, type McpAuthorization } from './metadata.ts';
