import { describe, expect, it, vi } from 'vitest';
import { sayAtOnce } from '../support/chat.ts';
import { createVideoStudio, done, POLL_MS, type StudioJob } from '../support/generations.ts';
import { createScriptedProvider, type ModelCall } from '../support/model.ts';
import { askModern, createMcpApp, type McpApp, readJson, rpc } from './support.ts';

const EXTENSION = 'io.modelcontextprotocol/tasks';
/** The start of the clock. */
const NOW = '2026-11-21T12:00:00.000Z';

type AskOptions = Parameters<typeof askModern>[3];

const ask = (app: McpApp, method: string, params: Readonly<Record<string, unknown>>, options?: AskOptions) =>
  askModern(app, method, params, { extensions: { [EXTENSION]: {} }, ...options });

const call = (app: McpApp, name: string, args: object, options?: AskOptions) =>
  ask(app, 'tools/call', { name, arguments: args }, options);

describe('tasks', () => {
  it('follow a run of an agent to its end', async () => {
    const asked: ModelCall[] = [];
    const app = await createMcpApp({ onCall: (one) => void asked.push(one) });
    const { result: task } = await call(app, 'ask_agent', { message: 'Think' });
    expect(task).toMatchObject({
      resultType: 'task',
      taskId: expect.stringMatching(/^execution_[0-9a-f]{24}$/),
      status: 'working',
      createdAt: NOW,
      lastUpdatedAt: NOW,
      ttlMs: null,
      pollIntervalMs: 2000,
    });
    expect(task).not.toHaveProperty('result');
    const { taskId } = task;
    await vi.waitFor(() => expect(asked).toHaveLength(1), { timeout: 30_000 });
    const early = await ask(app, 'tasks/get', { taskId });
    expect(early.result).toMatchObject({ resultType: 'complete', taskId, status: 'working' });
    expect((await ask(app, 'tasks/update', { taskId, inputResponses: {} })).result).toEqual({
      resultType: 'complete',
    });
    sayAtOnce('Late.')(asked[0] as ModelCall);
    await vi.waitFor(
      async () => {
        const { result } = await ask(app, 'tasks/get', { taskId });
        expect(result).toMatchObject({
          status: 'completed',
          result: { content: [{ type: 'text' }], structuredContent: { answer: 'Late.' } },
        });
      },
      { timeout: 30_000 },
    );
  });

  it('are cancelled, also after their end', async () => {
    const app = await createMcpApp({ onCall: () => undefined });
    const { taskId } = (await call(app, 'ask_agent', { message: 'Think' })).result;
    for (let time = 0; time < 2; time += 1) {
      expect((await ask(app, 'tasks/cancel', { taskId })).result).toEqual({ resultType: 'complete' });
      await vi.waitFor(
        async () => expect((await ask(app, 'tasks/get', { taskId })).result.status).toBe('cancelled'),
        { timeout: 30_000 },
      );
    }
  });

  it('are results of work that ends during the wait, and of tools without long work', async () => {
    const app = await createMcpApp();
    const asked = await call(app, 'ask_agent', { message: 'Hi', wait_seconds: 40 });
    expect(asked.result).toMatchObject({
      resultType: 'complete',
      structuredContent: { answer: 'Rain, at noon.' },
    });
    expect((await call(app, 'list_agents', {})).result).toMatchObject({ resultType: 'complete' });
    expect((await call(app, 'ask_agent', {})).result).toMatchObject({
      resultType: 'complete',
      isError: true,
    });
  });

  it('report a failure of the tool as a result', async () => {
    const app = await createMcpApp({ credits: 0 });
    const { taskId } = (await call(app, 'ask_agent', { message: 'Hi' })).result;
    await vi.waitFor(
      async () =>
        expect((await ask(app, 'tasks/get', { taskId })).result).toMatchObject({
          status: 'completed',
          result: { isError: true, content: [{ text: expect.stringMatching(/credit/i) }] },
        }),
      { timeout: 30_000 },
    );
  });

  it('are images', async () => {
    const app = await createMcpApp({ settings: { publicUrl: 'https://ai.example.com' } });
    const { result: task } = await call(app, 'generate_image', { prompt: 'A fjord' });
    const { taskId } = task;
    expect(task).toMatchObject({ createdAt: NOW, lastUpdatedAt: NOW });
    await vi.waitFor(
      async () => {
        const { result } = await ask(app, 'tasks/get', { taskId });
        expect(result.status).toBe('completed');
        expect(result.result.content.map(({ type }: { type: string }) => type)).toContain('image');
      },
      { timeout: 30_000 },
    );
    expect(taskId).toMatch(/^quest_/);
  });

  it('are unknown to other users, and to clients without the extension', async () => {
    const app = await createMcpApp({ onCall: () => undefined });
    const { taskId } = (await call(app, 'ask_agent', { message: 'Think' })).result;
    const eve = await app.addUser('eve@example.com');
    const key = await app.keyOf(eve.id);
    for (const method of ['tasks/get', 'tasks/update', 'tasks/cancel']) {
      for (const id of [taskId, 'execution_0', `quest_${'f'.repeat(24)}`, `none_${'f'.repeat(24)}`]) {
        const { error } = await ask(app, method, { taskId: id }, { key });
        expect([method, id, error]).toMatchObject([method, id, { code: -32602, message: 'Task not found' }]);
      }
      const undeclared = await ask(app, method, { taskId }, { extensions: {} });
      expect([method, undeclared.status, undeclared.error]).toMatchObject([
        method,
        400,
        { code: -32021, data: { requiredCapabilities: { extensions: { [EXTENSION]: {} } } } },
      ]);
      const legacy = await readJson(await app.send(rpc(method, { taskId })));
      expect(legacy.error.code).toBe(-32601);
    }
    expect((await ask(app, 'tasks/list', {})).error.code).toBe(-32601);
    expect((await ask(app, 'tasks/get', { taskId })).result.status).toBe('working');
    const args = { message: 'Think', wait_seconds: 0 };
    const plain = await call(app, 'ask_agent', args, { extensions: {} });
    expect(plain.result).toMatchObject({ resultType: 'complete', structuredContent: { answer: null } });
    const _meta = { 'io.modelcontextprotocol/clientCapabilities': { extensions: { [EXTENSION]: {} } } };
    const asked = rpc('tools/call', { name: 'ask_agent', arguments: args, _meta });
    const earlier = (await readJson(await app.send(asked))).result;
    expect(earlier).toMatchObject({ structuredContent: { answer: null } });
    expect(earlier).not.toHaveProperty('taskId');
  });

  it('are named in the header', async () => {
    const app = await createMcpApp();
    const { result } = await ask(app, 'server/discover', {});
    expect(result.capabilities.extensions).toEqual({ [EXTENSION]: {} });
    const params = {
      taskId: `quest_${'f'.repeat(24)}`,
      _meta: {
        'io.modelcontextprotocol/protocolVersion': '2026-07-28',
        'io.modelcontextprotocol/clientCapabilities': { extensions: { [EXTENSION]: {} } },
      },
    };
    const answer = await app.send(rpc('tasks/get', params), {
      'MCP-Protocol-Version': '2026-07-28',
      'Mcp-Method': 'tasks/get',
      'Mcp-Name': 'other',
    });
    expect((await readJson(answer)).error.code).toBe(-32020);
  });
});

describe('videos', () => {
  it('are started, followed as tasks, and read with their address', async () => {
    const studio = createVideoStudio();
    const app = await createMcpApp({
      models: [createScriptedProvider(sayAtOnce('Hi.')), studio],
      settings: { generations: { pollMs: POLL_MS }, publicUrl: 'https://ai.example.com' },
    });
    const listed = await call(app, 'list_video_models', {});
    expect(listed.result.structuredContent.models).toMatchObject([{ id: 'director' }]);
    const args = { model: 'director', prompt: 'A red panda walks' };
    expect((await call(app, 'generate_video', { ...args, mode: 'none' })).result.isError).toBe(true);
    const { result: task } = await call(app, 'generate_video', args);
    const { taskId } = task;
    expect(task).toMatchObject({
      taskId: expect.stringMatching(/^video_/),
      status: 'working',
      createdAt: NOW,
      lastUpdatedAt: NOW,
    });
    await vi.waitFor(() => expect(studio.videos.all).toHaveLength(1), { timeout: 30_000 });
    done(studio.videos.all[0] as StudioJob<unknown>, 8);
    await vi.waitFor(
      async () => {
        await app.clock.advance(POLL_MS);
        expect((await ask(app, 'tasks/get', { taskId })).result.status).toBe('completed');
      },
      { timeout: 30_000 },
    );
    const read = await call(app, 'get_video', { generation_id: taskId.replace('video_', '') });
    expect(read.result).toMatchObject({ structuredContent: { state: 'succeeded' } });
    expect(read.result.content[1]).toMatchObject({
      type: 'resource_link',
      uri: expect.stringMatching(/^https:\/\/ai\.example\.com\//),
    });

    const cancelled = (await call(app, 'generate_video', args, { extensions: {} })).result.structuredContent;
    expect(cancelled).toMatchObject({ output: null, error: null });
    const other = `video_${cancelled.generation_id}`;
    await ask(app, 'tasks/cancel', { taskId: other });
    expect((await ask(app, 'tasks/get', { taskId: other })).result.status).toBe('cancelled');
  });
});
