import type { Observer } from '@questline/core/ports';
import { describe, expect, it } from 'vitest';
import { filledLake } from '../support/lakes.ts';
import { askModern, callTool, createMcpApp, readJson, rpc, SCOPES } from './support.ts';

const ASK = { name: 'ask_agent', arguments: { message: 'Hi' } };

describe('limits of MCP clients', () => {
  it('are the credit of the user', async () => {
    const app = await createMcpApp();
    const { lakeId } = await filledLake(app, { 'a.txt': 'Rain.' }, { name: 'Public', is_public: true });
    const poor = await app.addUser('poor@example.com');
    const client = await app.connect(await app.keyOf(poor.id));
    const asked = await callTool(client, 'ask_agent', { message: 'Hi' });
    expect([asked.isError, asked.value.status]).toEqual([true, 'failed']);
    expect(asked.text).toMatch(/credit/i);
    const drawn = await callTool(client, 'generate_image', { prompt: 'x' });
    expect([drawn.isError, drawn.text]).toEqual([true, expect.stringMatching(/credit/i)]);
    expect((await app.ledger.balance(`user:${poor.id}`)).held).toBe(0);
    expect((await callTool(client, 'search_data_lake', { lake_id: lakeId, query: 'x' })).isError).toBe(true);
  });

  it('are charged like calls of the API', async () => {
    const app = await createMcpApp();
    const client = await app.connect();
    await callTool(client, 'ask_agent', { message: 'Hi' });
    const { available, held } = await app.ledger.balance(app.account);
    // 10 input tokens and 3 output tokens, each 0.01 credits.
    expect([1000e6 - available, held]).toEqual([130_000, 0]);
  });

  it('are the budgets', async () => {
    const app = await createMcpApp();
    const made = await app.json('POST', '/api/budgets', {
      credential: await app.token(),
      body: { name: 'Small', scope: 'user', window: 'month', limit: { unit: 'requests', amount: 1 } },
    });
    expect(made.status).toBeLessThan(300);
    const client = await app.connect();
    expect((await callTool(client, 'ask_agent', { message: 'Hi' })).isError).toBe(false);
    const refused = await callTool(client, 'ask_agent', { message: 'Hi' });
    expect([refused.isError, refused.text]).toEqual([true, expect.stringContaining('Small')]);
  });

  it('are the windows of the key, per operation', async () => {
    const app = await createMcpApp();
    const { key } = await app.issue({ scopes: SCOPES, requestsPerMinute: 2 });
    const Authorization = `Bearer ${key}`;
    const list = { name: 'list_agents', arguments: {} };
    const first = await app.send(rpc('tools/call', list), { Authorization });
    expect(first.headers.get('X-RateLimit-Remaining-Minute')).toBe('1');
    expect((await app.send(rpc('tools/list'), { Authorization })).status).toBe(200);
    const refused = await app.send(rpc('tools/call', list), { Authorization });
    expect(refused.status).toBe(200);
    expect(await readJson(refused)).toMatchObject({
      result: { isError: true, content: [{ text: expect.stringMatching(/try again in \d+ seconds/) }] },
    });
    for (const message of [rpc('tools/list'), rpc('ping'), { jsonrpc: '1.0' }, rpc('none')]) {
      const { status, headers } = await app.send(message, { Authorization });
      expect([message, status]).toEqual([message, 429]);
      expect(Number(headers.get('Retry-After'))).toBeGreaterThan(0);
    }
    expect(await askModern(app, 'server/discover', {}, { key })).toMatchObject({ status: 429 });
    const taskId = `quest_${'f'.repeat(24)}`;
    expect(await askModern(app, 'tasks/get', { taskId }, { key })).toMatchObject({ status: 429 });
  });

  it('run a call once for an Idempotency-Key', async () => {
    const app = await createMcpApp();
    const { body } = await app.json('POST', '/api/v1/sessions', { body: { name: 'Work' } });
    const headers = { 'Idempotency-Key': 'one' };
    const args = { message: 'Hi', session_id: body.id };
    const send = async () => {
      const answer = await app.send(rpc('tools/call', { ...ASK, arguments: args }), headers);
      return (await readJson(answer)).result.structuredContent;
    };
    const first = await send();
    expect(first.status).toBe('completed');
    expect(await send()).toEqual(first);
    const { result } = await readJson(await app.send(rpc('tools/call', ASK), headers));
    expect(result).toMatchObject({
      isError: true,
      content: [{ text: expect.stringContaining('session_id') }],
    });
  });

  it('refuse new work while the service shuts down', async () => {
    const app = await createMcpApp();
    const client = await app.connect();
    await app.api.drain(0);
    const { isError, text } = await callTool(client, 'ask_agent', { message: 'Hi' });
    expect([isError, text]).toEqual([true, expect.stringContaining('try again in')]);
  });

  it('are seen by observers: the message and every operation', async () => {
    const seen: string[] = [];
    const observer: Observer = {
      request({ operation }, work) {
        seen.push(operation.id);
        return work();
      },
    };
    const app = await createMcpApp({ settings: { observers: [observer] } });
    await app.send(rpc('tools/call', ASK));
    await app.send(rpc('tools/list'));
    expect(seen).toEqual([
      'receiveMcpMessage',
      'createSession',
      'startAgentExecution',
      'getAgentExecution',
      'receiveMcpMessage',
      'answerMcpMessage',
    ]);
  });
});
