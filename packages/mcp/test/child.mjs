import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';

const server = new McpServer({ name: 'child', version: '1.0.0' });
const say = (text) => ({ content: [{ type: 'text', text }] });
server.registerTool('pid', { description: 'Returns its process id.' }, () => say(String(process.pid)));
server.registerTool('die', { description: 'Ends at once.' }, () => process.exit(1));
server.registerTool('leave', { description: 'Ends after its answer.' }, () => {
  setImmediate(() => process.stdout.end(() => process.exit(0)));
  return say('bye');
});
server.registerTool('where', { description: 'Returns its surroundings.' }, () =>
  say(JSON.stringify({ cwd: process.cwd(), given: process.env.GIVEN, secret: process.env.SECRET_OF_HOST })),
);
server.registerTool(`own_${process.pid}`, { description: 'Has a name of its own.' }, () => say('own'));
await server.connect(new StdioServerTransport());
