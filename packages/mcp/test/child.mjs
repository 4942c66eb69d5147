import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';

const server = new McpServer({ name: 'child', version: '1.0.0' });
server.registerTool('pid', { description: 'Returns its process id.' }, () => ({
  content: [{ type: 'text', text: String(process.pid) }],
}));
server.registerTool('die', { description: 'Ends at once.' }, () => process.exit(1));
await server.connect(new StdioServerTransport());
