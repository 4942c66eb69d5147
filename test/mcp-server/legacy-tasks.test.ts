import type { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { CallToolResultSchema, CreateTaskResultSchema } from '@modelcontextprotocol/sdk/types.js';
import { createApi, createServices } from '@questline/core';
import { createMemoryObjects } from '@questline/core/memory';
import { createMcpApi } from '@questline/mcp-server';
import { createFakeIds } from '@questline/testing';
import { describe, expect, it, vi } from 'vitest';
import { sayAtOnce } from '../support/chat.ts';
import { createVideoStudio, done, POLL_MS, type StudioJob } from '../support/generations.ts';
import { createScriptedProvider, type ModelCall } from '../support/model.ts';
import { serveWire } from '../support/vendor-wire.ts';
import { askModern, callTool, createMcpApp, type McpApp, readJson, rpc } from './support.ts';

const RELATED = 'io.modelcontextprotocol/related-task';
const DAY = 24 * 3_600_000;
const REVISION = { 'MCP-Protocol-Version': '2025-11-25' };

/** Calls a tool as a task, with the official client. */
async function begin(client: Client, name: string, args: object, ttl?: number) {
  const params = { name, arguments: { ...args }, task: ttl === undefined ? {} : { ttl } };
  return (await client.request({ method: 'tools/call', params }, CreateTaskResultSchema)).task;
}

const resultOf = (client: Client, taskId: string) =>
  client.experimental.tasks.getTaskResult(taskId, CallToolResultSchema);

const refusal = (code: number, message: string) => ({ code, message: expect.stringContaining(message) });

describe('tasks of revision 2025-11-25 over the official client', () => {
  it('follow a run of an agent to its result', async () => {
    const asked: ModelCall[] = [];
    const app = await createMcpApp({ onCall: (one) => void asked.push(one) });
    const client = await app.connect();
    expect(client.getServerCapabilities()?.tasks).toEqual({
      list: {},
      cancel: {},
      requests: { tools: { call: {} } },
    });
    const { tools } = await client.listTools();
    const supported = tools.filter(({ execution }) => execution?.taskSupport === 'optional');
    expect(supported.map(({ name }) => name)).toEqual(['ask_agent', 'generate_image', 'generate_video']);
    const task = await begin(client, 'ask_agent', { message: 'Think', wait_seconds: 40 }, 60_000);
    expect(task).toEqual({
      taskId: expect.stringMatching(/^execution_[0-9a-f]{24}$/),
      status: 'working',
      createdAt: '2026-11-21T12:00:00.000Z',
      lastUpdatedAt: '2026-11-21T12:00:00.000Z',
      ttl: 60_000,
      pollInterval: 2000,
    });
    await vi.waitFor(() => expect(asked).toHaveLength(1), { timeout: 30_000 });
    expect((await client.experimental.tasks.getTask(task.taskId)).status).toBe('working');
    const waiting = resultOf(client, task.taskId);
    sayAtOnce('Late.')(asked[0] as ModelCall);
    expect(await waiting).toMatchObject({
      structuredContent: { answer: 'Late.' },
      _meta: { [RELATED]: { taskId: task.taskId } },
    });
    expect((await client.experimental.tasks.getTask(task.taskId)).status).toBe('completed');
    // The same as a call without a task.
    const { _meta, ...rest } = await resultOf(client, task.taskId);
    const executionId = task.taskId.replace('execution_', '');
    const plain = await client.callTool({
      name: 'get_agent_answer',
      arguments: { execution_id: executionId },
    });
    expect(rest).toEqual(plain);
  });

  it('are used by the client by itself, after it has listed the tools', async () => {
    const app = await createMcpApp();
    const client = await app.connect();
    await client.listTools();
    const seen: string[] = [];
    const stream = client.experimental.tasks.callToolStream({
      name: 'ask_agent',
      arguments: { message: 'Weather?' },
    });
    for await (const message of stream) {
      seen.push(message.type);
      if (message.type === 'result') {
        expect(message.result).toMatchObject({ structuredContent: { answer: 'Rain, at noon.' } });
      }
    }
    expect([seen[0], seen.at(-1)]).toEqual(['taskCreated', 'result']);
  });

  it('change nothing for a client that does not ask for them', async () => {
    const app = await createMcpApp();
    const client = await app.connect();
    const { value } = await callTool(client, 'ask_agent', { message: 'Hi' });
    expect(value).toMatchObject({ status: 'completed', answer: 'Rain, at noon.' });
    expect((await client.experimental.tasks.listTasks()).tasks).toEqual([]);
    await expect(client.experimental.tasks.getTask(`execution_${value.execution_id}`)).rejects.toMatchObject(
      refusal(-32602, 'Task not found'),
    );
    // Revisions before and after do not know the parameter.
    const params = { name: 'ask_agent', arguments: { message: 'Hi' }, task: {} };
    for (const headers of [{}, { 'MCP-Protocol-Version': '2025-06-18' }]) {
      const { result } = await readJson(await app.send(rpc('tools/call', params), headers));
      expect(result.structuredContent).toMatchObject({ answer: 'Rain, at noon.' });
      const listed = await readJson(await app.send(rpc('tools/list'), headers));
      expect(JSON.stringify(listed)).not.toContain('taskSupport');
      expect((await readJson(await app.send(rpc('tasks/list'), headers))).error.code).toBe(-32601);
    }
    const modern = await askModern(app, 'tools/call', params);
    expect(modern.result.structuredContent).toMatchObject({ answer: 'Rain, at noon.' });
    expect((await askModern(app, 'tasks/result', { taskId: 'x' })).error.code).toBe(-32601);
    const older = rpc('initialize', { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: {} });
    expect((await readJson(await app.send(older))).result.capabilities).not.toHaveProperty('tasks');
  });

  it('are cancelled once, which releases the hold', async () => {
    const asked: ModelCall[] = [];
    const app = await createMcpApp({ onCall: (one) => void asked.push(one) });
    const client = await app.connect();
    const { taskId } = await begin(client, 'ask_agent', { message: 'Think' });
    await vi.waitFor(() => expect(asked).toHaveLength(1), { timeout: 30_000 });
    expect((await app.ledger.balance(app.account)).held).toBeGreaterThan(0);
    expect(await client.experimental.tasks.cancelTask(taskId)).toMatchObject({ taskId, status: 'cancelled' });
    await expect(client.experimental.tasks.cancelTask(taskId)).rejects.toMatchObject(
      refusal(-32602, 'The task has ended'),
    );
    expect((await client.experimental.tasks.getTask(taskId)).status).toBe('cancelled');
    expect(await resultOf(client, taskId)).toMatchObject({
      isError: true,
      structuredContent: { status: 'aborted' },
      _meta: { [RELATED]: { taskId } },
    });
    await vi.waitFor(async () => expect((await app.ledger.balance(app.account)).held).toBe(0), {
      timeout: 30_000,
    });
  });

  it('fail with their tool, and are not made for a refused call', async () => {
    const app = await createMcpApp({ credits: 0 });
    const client = await app.connect();
    const { taskId } = await begin(client, 'ask_agent', { message: 'Hi' });
    expect(await resultOf(client, taskId)).toMatchObject({
      isError: true,
      content: [{ text: expect.stringMatching(/credit/i) }],
    });
    expect((await client.experimental.tasks.getTask(taskId)).status).toBe('failed');
    await expect(
      begin(client, 'ask_agent', { message: 'Hi', agent_id: 'f'.repeat(24) }),
    ).rejects.toMatchObject(refusal(-32000, 'not found'));
    await expect(begin(client, 'ask_agent', {})).rejects.toMatchObject(refusal(-32602, 'message'));
    await expect(begin(client, 'ask_agent', { message: 'x', wait_seconds: 'x' })).rejects.toMatchObject({
      code: -32602,
    });
    await expect(begin(client, 'list_agents', {})).rejects.toMatchObject(refusal(-32601, 'list_agents'));
    await expect(begin(client, 'none', {})).rejects.toMatchObject({ code: -32602 });
    for (const task of [7, 'x', [], null, { ttl: -1 }, { ttl: 'x' }, { ttl: 1.5 }]) {
      const params = { name: 'ask_agent', arguments: { message: 'Hi' }, task };
      const { error } = await readJson(await app.send(rpc('tools/call', params), REVISION));
      expect([task, error?.code]).toEqual([task, -32602]);
    }
    expect((await client.experimental.tasks.listTasks()).tasks).toHaveLength(1);
    expect(app.incidents).toEqual([]);
  });

  it('are images', async () => {
    const app = await createMcpApp();
    const client = await app.connect();
    const { taskId } = await begin(client, 'generate_image', { prompt: 'A fjord' });
    expect(taskId).toMatch(/^quest_/);
    const { content } = await resultOf(client, taskId);
    expect(content.map(({ type }) => type)).toContain('image');
    expect((await client.experimental.tasks.getTask(taskId)).status).toBe('completed');
  });

  it('are shown and listed without a read of their images', async () => {
    const objects = createMemoryObjects();
    let reads = 0;
    const app = await createMcpApp({
      objects: {
        ...objects,
        get(...args) {
          reads += 1;
          return objects.get(...args);
        },
      },
    });
    const client = await app.connect();
    const { taskId } = await begin(client, 'generate_image', { prompt: 'A fjord' });
    await resultOf(client, taskId);
    const before = reads;
    expect(before).toBeGreaterThan(0);
    expect((await client.experimental.tasks.getTask(taskId)).status).toBe('completed');
    expect((await client.experimental.tasks.listTasks()).tasks).toMatchObject([{ status: 'completed' }]);
    expect(reads).toBe(before);
  });

  it('are videos, whose end is waited for', async () => {
    const studio = createVideoStudio();
    const app = await createMcpApp({
      models: [createScriptedProvider(sayAtOnce('Hi.')), studio],
      settings: { generations: { pollMs: POLL_MS }, publicUrl: 'https://ai.example.com' },
    });
    const client = await app.connect();
    const args = { model: 'director', prompt: 'A red panda walks' };
    const { taskId } = await begin(client, 'generate_video', args);
    await vi.waitFor(() => expect(studio.videos.all).toHaveLength(1), { timeout: 30_000 });
    let isOver = false;
    const waiting = resultOf(client, taskId).finally(() => {
      isOver = true;
    });
    done(studio.videos.all[0] as StudioJob<unknown>, 8);
    await vi.waitFor(
      async () => {
        await app.clock.advance(POLL_MS);
        expect(isOver).toBe(true);
      },
      { timeout: 30_000 },
    );
    expect(await waiting).toMatchObject({ structuredContent: { state: 'succeeded' } });
    const other = await begin(client, 'generate_video', args);
    expect((await client.experimental.tasks.cancelTask(other.taskId)).status).toBe('cancelled');
    await vi.waitFor(async () => expect((await app.ledger.balance(app.account)).held).toBe(0), {
      timeout: 30_000,
    });
  });

  it('are unknown to other users', async () => {
    const app = await createMcpApp({ onCall: () => undefined });
    const client = await app.connect();
    const { taskId } = await begin(client, 'ask_agent', { message: 'Think' });
    const eve = await app.addUser('eve@example.com');
    const stranger = await app.connect(await app.keyOf(eve.id));
    expect((await stranger.experimental.tasks.listTasks()).tasks).toEqual([]);
    for (const id of [taskId, 'execution_0', `quest_${'f'.repeat(24)}`, '']) {
      for (const work of [
        stranger.experimental.tasks.getTask(id),
        resultOf(stranger, id),
        stranger.experimental.tasks.cancelTask(id),
      ]) {
        await expect(work).rejects.toMatchObject(refusal(-32602, 'Task not found'));
      }
    }
    expect((await client.experimental.tasks.getTask(taskId)).status).toBe('working');
    await expect(
      begin(stranger, 'ask_agent', { message: 'Hi', session_id: 'f'.repeat(24) }),
    ).rejects.toMatchObject(refusal(-32000, 'not found'));
  });

  it('are listed page by page, newest first, until they expire', async () => {
    const app = await createMcpApp();
    const client = await app.connect();
    const made: string[] = [];
    for (let count = 0; count < 12; count += 1) {
      made.unshift((await begin(client, 'ask_agent', { message: 'Hi' }, DAY)).taskId);
      await app.clock.advance(1000);
    }
    const first = await client.experimental.tasks.listTasks();
    const second = await client.experimental.tasks.listTasks(first.nextCursor);
    expect([...first.tasks, ...second.tasks].map(({ taskId }) => taskId)).toEqual(made);
    expect([first.tasks.length, second.nextCursor]).toEqual([10, undefined]);
    for (const cursor of ['x', first.nextCursor?.slice(2)]) {
      await expect(client.experimental.tasks.listTasks(cursor)).rejects.toMatchObject({ code: -32602 });
    }
    const eve = await app.connect(await app.keyOf((await app.addUser('eve@example.com')).id));
    await expect(eve.experimental.tasks.listTasks(first.nextCursor)).rejects.toMatchObject({ code: -32602 });
    await app.clock.advance(DAY);
    expect((await client.experimental.tasks.listTasks()).tasks).toEqual([]);
    await expect(client.experimental.tasks.getTask(String(made[0]))).rejects.toMatchObject({ code: -32602 });
    const longest = await begin(client, 'ask_agent', { message: 'Hi' }, 365 * DAY);
    expect(longest.ttl).toBe(7 * DAY);
  });

  it('are done and answered by another process after a restart', async () => {
    const app = await createMcpApp({ started: false });
    const { taskId } = await begin(await app.connect(), 'ask_agent', { message: 'Hi' });
    await app.api.close();
    const { store, ledger, limiter, clock } = app.services;
    const services = createServices(
      {
        ...{ store, ledger, limiter, clock, ids: createFakeIds(7) },
        models: [createScriptedProvider(sayAtOnce('After the restart.'))],
      },
      { jwtSecret: 'a'.repeat(64), admin: { DefaultAPIModel: 'scripted', EnableAgents: true } },
    );
    const api = createApi(services);
    await api.start();
    const url = await serveWire(createMcpApi(services), '/mcp');
    const send = async (method: string): Promise<unknown> => {
      const answer = await fetch(url, {
        method: 'POST',
        headers: { Authorization: `Bearer ${app.key}`, 'Content-Type': 'application/json', ...REVISION },
        body: JSON.stringify(rpc(method, { taskId })),
      });
      return (await readJson(answer)).result;
    };
    await vi.waitFor(
      async () => {
        await app.clock.advance(1000);
        expect(await send('tasks/get')).toMatchObject({ status: 'completed' });
      },
      { timeout: 30_000 },
    );
    expect(await send('tasks/result')).toMatchObject({
      structuredContent: { answer: 'After the restart.' },
      _meta: { [RELATED]: { taskId } },
    });
    expect((await ledger.balance(app.account)).held).toBe(0);
    await api.close();
  });

  it('answer a wait that takes too long with an error, and go on', async () => {
    const app: McpApp = await createMcpApp({ onCall: () => undefined, mcp: { maxWaitMs: 1 } });
    const client = await app.connect();
    const { taskId } = await begin(client, 'ask_agent', { message: 'Think' });
    let code: unknown;
    resultOf(client, taskId).catch((error: { code: unknown }) => {
      code = error.code;
    });
    await vi.waitFor(
      async () => {
        await app.clock.advance(10);
        expect(code).toBe(-32000);
      },
      { timeout: 30_000 },
    );
    expect((await client.experimental.tasks.getTask(taskId)).status).toBe('working');
  });
});
