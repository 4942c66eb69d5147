export { createMcpApi, type McpApiOptions } from './api.ts';
