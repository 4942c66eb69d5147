import { revokeApiKey } from '@questline/core';
import { createMcpMetadata } from '@questline/mcp-server';
import { describe, expect, it } from 'vitest';
import { addAgent } from '../support/agents.ts';
import { filledLake, saveFile } from '../support/lakes.ts';
import { serveWire } from '../support/vendor-wire.ts';
import { callTool, createMcpApp, rpc, SCOPES } from './support.ts';

const NONE = 'f'.repeat(24);

describe('access of MCP clients', () => {
  it('hides the tools whose scopes a key lacks, and refuses their calls', async () => {
    const app = await createMcpApp();
    const client = await app.connect(await app.keyOf(app.user.id, ['notebooks:read']));
    const { tools } = await client.listTools();
    expect(tools.map(({ name }) => name)).toEqual(['list_sessions', 'read_session', 'get_image']);
    for (const [name, args] of [
      ['ask_agent', { message: 'Hi' }],
      ['list_agents', {}],
      ['search_data_lake', { lake_id: 'papers', query: 'x' }],
      ['read_file', { file_id: NONE }],
      ['generate_image', { prompt: 'x' }],
      ['list_models', {}],
    ] as const) {
      const { isError, text } = await callTool(client, name, args);
      expect([name, isError, text]).toEqual([
        name,
        true,
        'API key does not have the scopes this operation requires',
      ]);
    }
    await expect(client.listResources()).rejects.toMatchObject({ code: -32000 });
    expect((await callTool(client, 'list_sessions')).value.data).toEqual([]);
  });

  it('shows a signed-in user all tools', async () => {
    const app = await createMcpApp();
    const client = await app.connect(await app.token());
    expect((await client.listTools()).tools).toHaveLength(15);
    expect((await callTool(client, 'ask_agent', { message: 'Hi' })).value.status).toBe('completed');
  });

  it('keeps two users apart', async () => {
    const app = await createMcpApp();
    const agent = await addAgent(app, { id: 'a'.repeat(24), name: 'Secret' });
    const { lakeId, fileIds } = await filledLake(app, { 'secret.txt': 'The secret of Ada.' });
    const ada = await app.connect();
    const asked = await callTool(ada, 'ask_agent', { message: 'My secret' });
    const { session_id, execution_id } = asked.value;
    const { quest_id } = (await callTool(ada, 'generate_image', { prompt: 'A secret' })).value;

    const other = await app.addUser('eve@example.com');
    const eve = await app.connect(await app.keyOf(other.id));
    for (const name of ['list_agents', 'list_sessions', 'list_data_lakes', 'list_files']) {
      expect([name, (await callTool(eve, name)).value.data]).toEqual([name, []]);
    }
    for (const [name, args] of [
      ['ask_agent', { message: 'Hi', session_id }],
      ['ask_agent', { message: 'Hi', agent_id: agent.id }],
      ['ask_agent', { message: 'Hi', file_ids: [fileIds['secret.txt']] }],
      ['get_agent_answer', { execution_id }],
      ['read_session', { session_id }],
      ['search_data_lake', { lake_id: lakeId, query: 'secret' }],
      ['read_file', { file_id: fileIds['secret.txt'] }],
      ['get_image', { quest_id }],
    ] as const) {
      const { isError, text, value, content } = await callTool(eve, name, args);
      expect([name, isError, value, content.length]).toEqual([name, true, undefined, 1]);
      expect(text).toMatch(/not found/i);
    }
    for (const uri of [`questline://files/${fileIds['secret.txt']}`, `questline://sessions/${session_id}`]) {
      await expect(eve.readResource({ uri })).rejects.toMatchObject({ code: -32002 });
    }
    // A refused run leaves no session behind.
    expect((await callTool(eve, 'list_sessions')).value.data).toEqual([]);
    expect((await callTool(ada, 'list_sessions')).value.data).not.toEqual([]);
  });

  it('does not read a file that is not clean', async () => {
    const app = await createMcpApp();
    const client = await app.connect();
    const made = { name: 'new.txt', mimeType: 'text/plain', content: Buffer.from('x'), isModerated: true };
    await app.api.drain(0);
    const { file } = await app.services.library.save(app.user.id, made);
    const { isError, text } = await callTool(client, 'read_file', { file_id: file?.id });
    expect([isError, text]).toEqual([true, 'new.txt is not checked yet, or is blocked.']);
    const picture = await saveFile(app, 'x', { name: 'a.png', mimeType: 'image/png' });
    expect((await callTool(client, 'read_file', { file_id: picture })).text).toBe('a.png has no text.');
  });

  it('ends with the key', async () => {
    const app = await createMcpApp();
    const { key, record } = await app.issue({ scopes: SCOPES });
    const client = await app.connect(key);
    await client.listTools();
    await revokeApiKey(app.services, app.user.id, record.id);
    await app.clock.advance(5000);
    await expect(client.listTools()).rejects.toMatchObject({ code: 401 });
    const { status, headers } = await app.send(rpc('tools/list'), { Authorization: `Bearer ${key}` });
    expect([status, headers.get('WWW-Authenticate')]).toEqual([401, 'Bearer']);
  });

  it('names the metadata of the resource where the host has an authorization server', async () => {
    const authorization = { resource: 'https://ai.example.com/mcp', servers: ['https://login.example.com'] };
    const app = await createMcpApp({ mcp: { authorization } });
    const { status, headers } = await app.send(rpc('ping'), { Authorization: '' });
    expect(status).toBe(401);
    expect(headers.get('WWW-Authenticate')).toBe(
      'Bearer resource_metadata="https://ai.example.com/mcp/.well-known/oauth-protected-resource"',
    );
    const metadata = await fetch(`${app.url}/.well-known/oauth-protected-resource`);
    expect(await metadata.json()).toMatchObject({
      resource: 'https://ai.example.com/mcp',
      authorization_servers: ['https://login.example.com'],
    });
    const own = createMcpMetadata(app.services, { ...authorization, scopes: ['ai'] });
    const known = await serveWire(own, '');
    const asked = await fetch(`${known}/.well-known/oauth-protected-resource/mcp`);
    expect(await asked.json()).toMatchObject({ resource: authorization.resource, scopes_supported: ['ai'] });
    expect(asked.headers.get('Access-Control-Allow-Origin')).toBe('*');
    // The server of the test answers 404 where the mount leaves a path to the host.
    for (const path of ['/.well-known/oauth-protected-resource', '/other']) {
      expect((await fetch(`${known}${path}`)).status).toBe(404);
    }
    const none = await createMcpApp();
    expect((await fetch(`${none.url}/.well-known/oauth-protected-resource`)).status).toBe(404);
  });
});
