import { describe, expect, it, vi } from 'vitest';
import { addAgent } from '../support/agents.ts';
import { sayAtOnce } from '../support/chat.ts';
import { filledLake, saveFile } from '../support/lakes.ts';
import type { ModelCall } from '../support/model.ts';
import { callTool, createMcpApp } from './support.ts';

describe('tools over the official client', () => {
  it('are listed with their arguments', async () => {
    const client = await (await createMcpApp()).connect();
    expect(client.getServerVersion()).toMatchObject({ name: 'questline', title: 'Questline' });
    expect(client.getInstructions()).toContain('credits');
    await client.ping();
    const { tools } = await client.listTools();
    expect(tools.map(({ name }) => name)).toEqual([
      'ask_agent',
      'get_agent_answer',
      'list_agents',
      'list_sessions',
      'read_session',
      'list_data_lakes',
      'search_data_lake',
      'list_files',
      'read_file',
      'list_video_models',
      'list_models',
      'generate_image',
      'get_image',
      'generate_video',
      'get_video',
    ]);
    const search = tools.find(({ name }) => name === 'search_data_lake');
    expect(search?.inputSchema).toMatchObject({
      properties: {
        lake_id: { type: 'string' },
        query: { type: 'string', maxLength: 4000 },
        top_k: { type: 'integer', minimum: 1, maximum: 100 },
      },
      required: ['lake_id', 'query'],
    });
    expect(search?.annotations).toMatchObject({ readOnlyHint: true });
    const models = tools.find(({ name }) => name === 'list_models');
    expect(models?.inputSchema.properties?.limit).toMatchObject({
      type: 'integer',
      minimum: 1,
      maximum: 100,
    });
    expect(models?.inputSchema.properties?.limit).not.toHaveProperty('pattern');
  });

  it('ask an agent, and keep the conversation in a session', async () => {
    const app = await createMcpApp();
    const agent = await addAgent(app, { id: 'a'.repeat(24), name: 'Rain', description: 'Knows the weather' });
    const client = await app.connect();
    expect((await callTool(client, 'list_agents')).value.data).toMatchObject([
      { id: agent.id, name: 'Rain' },
    ]);
    const { value, text, isError } = await callTool(client, 'ask_agent', {
      message: 'Weather in Oslo?',
      agent_id: agent.id,
    });
    expect({ isError, ...value }).toMatchObject({
      isError: false,
      status: 'completed',
      answer: 'Rain, at noon.',
    });
    expect(JSON.parse(text)).toEqual(value);
    const sessions = (await callTool(client, 'list_sessions')).value.data;
    expect(sessions).toMatchObject([{ id: value.session_id, name: 'Weather in Oslo?' }]);
    const messages = (await callTool(client, 'read_session', { session_id: value.session_id })).value.data;
    expect(messages).toMatchObject([
      { role: 'user', content: 'Weather in Oslo?' },
      { role: 'assistant', content: 'Rain, at noon.' },
    ]);
  });

  it('return the id of a run that takes longer than the wait', async () => {
    const asked: ModelCall[] = [];
    const app = await createMcpApp({ onCall: (call) => void asked.push(call) });
    const client = await app.connect();
    const { value } = await callTool(client, 'ask_agent', { message: 'Think', wait_seconds: 0 });
    expect(value).toMatchObject({ status: expect.stringMatching(/pending|running/), answer: null });
    const { execution_id } = value;
    const answered = callTool(client, 'get_agent_answer', { execution_id });
    await vi.waitFor(() => expect(asked).toHaveLength(1), { timeout: 30_000 });
    const early = await callTool(client, 'get_agent_answer', { execution_id, wait_seconds: 0 });
    expect(early.value).toMatchObject({ status: 'running', answer: null });
    sayAtOnce('Late.')(asked[0] as ModelCall);
    expect((await answered).value).toMatchObject({ execution_id, status: 'completed', answer: 'Late.' });
  });

  it('search a data lake and read its files', async () => {
    const app = await createMcpApp();
    const { lakeId, fileIds } = await filledLake(app, {
      'rain.txt': 'Rain falls in Bergen.',
      'sun.txt': 'The sun shines in Cairo.',
    });
    const client = await app.connect();
    expect((await callTool(client, 'list_data_lakes')).value.data).toMatchObject([{ id: lakeId }]);
    const found = await callTool(client, 'search_data_lake', {
      lake_id: lakeId,
      query: 'Bergen rain',
      top_k: 1,
    });
    expect(found.value.results).toMatchObject([
      { file_name: 'rain.txt', chunk_text: 'Rain falls in Bergen.' },
    ]);
    expect((await callTool(client, 'list_files')).value.data).toHaveLength(2);
    const read = await callTool(client, 'read_file', { file_id: fileIds['rain.txt'] });
    expect(read.value).toMatchObject({ file_name: 'rain.txt', text: 'Rain falls in Bergen.' });
  });

  it('generate an image and return its content', async () => {
    const app = await createMcpApp({ settings: { publicUrl: 'https://ai.example.com' } });
    const client = await app.connect();
    const { content, value, isError } = await callTool(client, 'generate_image', { prompt: 'A fjord' });
    expect([isError, value.status]).toEqual([false, 'done']);
    expect(content.map(({ type }) => type)).toEqual(['text', 'resource_link', 'image']);
    expect(content[1]?.uri).toContain('https://ai.example.com/api/v1/objects');
    expect(content[2]?.mimeType).toMatch(/^image\//);
    const again = await callTool(client, 'get_image', { quest_id: value.quest_id });
    expect(again.content[2]).toEqual(content[2]);
  });

  it('list the models that the key may use', async () => {
    const app = await createMcpApp({ key: { models: ['scripted'] } });
    const client = await app.connect();
    const { data } = (await callTool(client, 'list_models', { limit: 5 })).value;
    expect(data.map(({ id }: { id: string }) => id)).toEqual(['scripted']);
  });

  it('offer files and sessions as resources', async () => {
    const app = await createMcpApp();
    const fileId = await saveFile(app, 'Notes of the day.');
    const client = await app.connect();
    const { resources } = await client.listResources();
    expect(resources).toEqual([
      { uri: `questline://files/${fileId}`, name: 'notes.txt', mimeType: 'text/plain', size: 17 },
    ]);
    const { contents } = await client.readResource({ uri: `questline://files/${fileId}` });
    expect(contents).toMatchObject([{ text: 'Notes of the day.' }]);
    const { resourceTemplates } = await client.listResourceTemplates();
    expect(resourceTemplates.map(({ uriTemplate }) => uriTemplate)).toEqual([
      'questline://files/{id}',
      'questline://sessions/{id}',
    ]);
    const { session_id } = (await callTool(client, 'ask_agent', { message: 'Hi' })).value;
    const session = await client.readResource({ uri: `questline://sessions/${session_id}` });
    expect(JSON.parse(String((session.contents[0] as { text?: string }).text))).toHaveLength(2);
    await expect(client.readResource({ uri: `questline://files/${'f'.repeat(24)}` })).rejects.toMatchObject({
      code: -32002,
    });
  });

  it('are only those of operations that the host has chosen', async () => {
    const app = await createMcpApp({ mcp: { operations: { without: ['images', 'agents', 'files'] } } });
    const { tools } = await (await app.connect()).listTools();
    const names = tools.map(({ name }) => name);
    expect(names).toContain('ask_agent');
    for (const gone of ['generate_image', 'list_agents', 'list_files', 'read_file']) {
      expect(names).not.toContain(gone);
    }
  });
});
