import { ProviderError } from '@questline/core/ports';
import { expect, vi } from 'vitest';
import { createAnthropicApp, createThinker } from '../../anthropic/support.ts';
import { createOpenAIApp } from '../../openai/support.ts';
import { type ChatAppOptions, sayAtOnce } from '../../support/chat.ts';
import type { ModelCall } from '../../support/model.ts';
import { reason } from '../../support/vendor-wire.ts';
import { whileWorking } from '../app.ts';
import type { Answer, MatrixClient, Scenario, Server, Turn } from './client.ts';
import { PDF, PNG } from './media.ts';

const QUESTION: Turn = { role: 'user', text: 'Weather in Oslo?' };

/** A server whose model is the script. */
async function serve(
  { wire }: MatrixClient,
  script: (call: ModelCall) => void,
  options: ChatAppOptions = {},
): Promise<Server> {
  if (wire === 'openai') return createOpenAIApp({ onCall: script, ...options });
  return createAnthropicApp({ model: createThinker(script), ...options });
}

function getResults({ request }: ModelCall): readonly string[] {
  return request.messages.flatMap(({ content }) =>
    content.flatMap((part) => (part.type === 'tool_result' ? [part.content] : [])),
  );
}

/** The turn of an assistant, and the results of its calls. */
function toRound(answer: Answer, results: readonly string[]): Turn[] {
  return [
    { role: 'assistant', answer },
    {
      role: 'tool',
      results: answer.calls.map(({ id, name }, index) => ({ id, name, text: results[index] ?? '' })),
    },
  ];
}

/** Calls a tool in each of two rounds, then answers. */
function callTwice(call: ModelCall): void {
  const done = getResults(call).length;
  if (done === 2) {
    sayAtOnce('Rain at noon.')(call);
    return;
  }
  const [id, name] = done === 0 ? ['t1', 'weather'] : ['t2', 'time'];
  call.say({ type: 'tool_use', id, name, arguments: '{"city":"Oslo"}' });
  call.say({ type: 'usage', usage: { input: 20, output: 9 } }, { type: 'finish', reason: 'tool_use' });
  call.end();
}

/** Calls both tools in one round, then answers. */
function callBoth(call: ModelCall): void {
  if (getResults(call).length === 2) {
    sayAtOnce('Rain at noon.')(call);
    return;
  }
  call.say({ type: 'tool_use_delta', index: 0, id: 't1', name: 'weather', arguments: '{"city":' });
  call.say({ type: 'tool_use', id: 't1', name: 'weather', arguments: '{"city":"Oslo"}' });
  call.say({ type: 'tool_use', id: 't2', name: 'time', arguments: '{"city":"Oslo"}' });
  call.say({ type: 'usage', usage: { input: 20, output: 9 } }, { type: 'finish', reason: 'tool_use' });
  call.end();
}

/** Answers as a schema asks for, or as the tool that a client offers in its place. */
function answerStructured(call: ModelCall): void {
  const { responseFormat, tools = [] } = call.request;
  const [tool] = tools;
  if (responseFormat?.type === 'schema' || tool === undefined) {
    sayAtOnce('{"city":"Oslo"}')(call);
    return;
  }
  call.say({ type: 'tool_use', id: 't1', name: tool.name, arguments: '{"city":"Oslo"}' });
  call.say({ type: 'usage', usage: { input: 20, output: 9 } }, { type: 'finish', reason: 'tool_use' });
  call.end();
}

async function expectContent(
  client: MatrixClient,
  turn: Turn,
  content: Readonly<Record<string, unknown>>,
): Promise<void> {
  const server = await serve(client, sayAtOnce('A lake.'));
  const answer = await client.ask(server, { turns: [turn] });
  expect(answer.text).toBe('A lake.');
  expect(server.calls[0]?.request.messages[0]?.content).toContainEqual(expect.objectContaining(content));
}

/** The status of an error of any client. */
function getStatus(error: unknown): unknown {
  const { status, statusCode, lastError } = error as Readonly<Record<string, unknown>>;
  return status ?? statusCode ?? (lastError === undefined ? undefined : getStatus(lastError));
}

const RUN: Readonly<Record<Scenario, (client: MatrixClient) => Promise<void>>> = {
  async plain(client) {
    const server = await serve(client, sayAtOnce('Rain today.'));
    const answer = await client.ask(server, { turns: [QUESTION] });
    expect(answer).toMatchObject({ text: 'Rain today.', calls: [], usage: { input: 10, output: 2 } });
    expect(server.calls[0]?.request.messages).toMatchObject([
      { role: 'user', content: [{ type: 'text', text: 'Weather in Oslo?' }] },
    ]);
  },

  async stream(client) {
    const server = await serve(client, (call) => {
      call.say({ type: 'text', text: 'Rain ' });
      setImmediate(() => sayAtOnce('today.')(call));
    });
    const answer = await client.ask(server, { turns: [QUESTION], isStreamed: true });
    expect(answer).toMatchObject({ text: 'Rain today.', calls: [] });
    expect(answer.pieces).toBeGreaterThan(0);
  },

  async 'tools in several rounds'(client) {
    const server = await serve(client, callTwice);
    const turns: Turn[] = [QUESTION];
    for (const [name, result] of [
      ['weather', 'rain'],
      ['time', 'noon'],
    ] as const) {
      const answer = await client.ask(server, { turns, tools: ['weather', 'time'] });
      expect(answer.calls).toMatchObject([{ name, input: { city: 'Oslo' } }]);
      turns.push(...toRound(answer, [result]));
    }
    const last = await client.ask(server, { turns, tools: ['weather', 'time'] });
    expect(last.text).toBe('Rain at noon.');
    expect(server.calls.map(getResults)).toEqual([[], ['rain'], ['rain', 'noon']]);
  },

  async 'parallel tools'(client) {
    const server = await serve(client, callBoth);
    const asked = { turns: [QUESTION], tools: ['weather', 'time'], isStreamed: true };
    const answer = await client.ask(server, asked);
    expect(answer.calls.map(({ id, name }) => [id, name])).toEqual([
      ['t1', 'weather'],
      ['t2', 'time'],
    ]);
    const last = await client.ask(server, {
      ...asked,
      turns: [QUESTION, ...toRound(answer, ['rain', 'noon'])],
    });
    expect(last.text).toBe('Rain at noon.');
    expect(server.calls.map(getResults)).toEqual([[], ['rain', 'noon']]);
  },

  async 'structured output'(client) {
    const server = await serve(client, answerStructured);
    const answer = await client.ask(server, { turns: [QUESTION], isStructured: true });
    expect(answer.value).toEqual({ city: 'Oslo' });
    const { responseFormat, tools = [] } = server.calls[0]?.request ?? {};
    const schema = responseFormat?.type === 'schema' ? responseFormat.schema : tools[0]?.parameters;
    expect(schema).toMatchObject({ properties: { city: { type: 'string' } }, required: ['city'] });
  },

  images: (client) =>
    expectContent(client, { role: 'user', text: 'What is it?', image: PNG }, { type: 'image', data: PNG }),

  documents: (client) =>
    expectContent(
      client,
      { role: 'user', text: 'What does it say?', document: PDF },
      { type: 'document', mediaType: 'application/pdf', data: PDF },
    ),

  async 'reasoning kept over rounds'(client) {
    const server = await serve(client, reason);
    const answer = await client.ask(server, { turns: [QUESTION], reasons: true });
    await client.ask(server, { turns: [QUESTION, { role: 'assistant', answer }, QUESTION], reasons: true });
    expect(server.calls[1]?.request.messages[1]?.content).toEqual([
      { type: 'thinking', block: { type: 'thinking', thinking: 'hm', signature: 's1' } },
      { type: 'text', text: 'Rain.' },
    ]);
  },

  async cancel(client) {
    const leaving = new AbortController();
    const server = await serve(client, (call) => {
      call.say({ type: 'text', text: 'Rain' });
      setImmediate(() => leaving.abort());
    });
    const asked = client.ask(server, { turns: [QUESTION], isStreamed: true, signal: leaving.signal });
    await expect(asked).rejects.toThrow(/abort/i);
    await server.calls[0]?.whenStopped;
    await vi.waitFor(async () => {
      expect((await server.ledger.balance(server.account)).held).toBe(0);
    });
    expect(server.calls).toHaveLength(1);
  },

  async retries(client) {
    let calls = 0;
    const server = await serve(client, (call) => {
      calls += 1;
      if (calls > 1) sayAtOnce('Rain.')(call);
      else call.fail(new ProviderError('failed', 'once', { retryAfterMs: 1 }));
    });
    const asked = client.ask(server, { turns: [QUESTION], maxRetries: 1 });
    const answer = await (client.isStored ? whileWorking(server, asked) : asked);
    expect(answer.text).toBe('Rain.');
    expect(calls).toBe(2);
    const charges = await server.ledger.charges({ account: server.account }, 10);
    expect(charges.filter(({ amount }) => amount > 0)).toHaveLength(1);
  },

  async 'errors by class'(client) {
    const rich = await serve(client, sayAtOnce('Rain.'));
    const poor = await serve(client, sayAtOnce('never'), { credits: 0 });
    const statuses: unknown[] = [];
    for (const [server, asked] of [
      [rich, { key: `svc_live_${'x'.repeat(43)}` }],
      [rich, { model: 'none' }],
      [rich, { tools: ['x'.repeat(300)] }],
      [poor, { maxRetries: 0 }],
    ] as const) {
      const error: unknown = await client.ask(server, { turns: [QUESTION], ...asked }).then(
        () => undefined,
        (thrown: unknown) => thrown,
      );
      expect(error).toBeInstanceOf(Error);
      statuses.push(getStatus(error));
    }
    expect(statuses).toEqual([401, 404, 400, client.wire === 'openai' ? 429 : 402]);
    expect([...rich.calls, ...poor.calls]).toEqual([]);
  },

  async 'usage by class'(client) {
    const server = await serve(client, (call) => {
      call.say({ type: 'usage', usage: { input: 10, cachedInput: 30, cacheWrite: 5 } });
      reason(call);
    });
    for (const isStreamed of [false, true]) {
      const { usage } = await client.ask(server, { turns: [QUESTION], isStreamed });
      const [charge] = await server.ledger.charges({ account: server.account }, 10);
      const { input = 0, cachedInput = 0, cacheWrite = 0, output = 0, reasoning = 0 } = charge?.usage ?? {};
      const total = { input: input + cachedInput + cacheWrite, output: output + reasoning };
      const known = Object.entries(usage).filter(([, tokens]) => tokens !== undefined);
      expect(Object.fromEntries(known)).toEqual(
        Object.fromEntries(
          Object.entries({ ...total, cachedInput, cacheWrite, reasoning }).filter(([name]) =>
            known.some(([reported]) => reported === name),
          ),
        ),
      );
      expect(total).toEqual({ input: 45, output: 9 });
    }
  },
};

/** Runs a cell of the table. */
export function runScenario(scenario: Scenario, client: MatrixClient): Promise<void> {
  return RUN[scenario](client);
}
