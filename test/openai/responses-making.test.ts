import { setImmediate as turn } from 'node:timers/promises';
import { QUESTS } from '@questline/core/internal';
import { createMemoryEventLog } from '@questline/core/memory';
import {
  type EventLog,
  type ModelInfo,
  ProviderError,
  type Store,
  type WebTools,
} from '@questline/core/ports';
import { createFakeClock } from '@questline/testing';
import { describe, expect, it } from 'vitest';
import { sayAtOnce } from '../support/chat.ts';
import { createScriptedProvider, type ModelCall, SCRIPTED_MODEL } from '../support/model.ts';
import { NOW } from '../support/test-app.ts';
import { createOpenAIApp, type OpenAIApp, readError } from './support.ts';
import { createToolServer } from './support-mcp.ts';
import { QUESTION } from './support-responses.ts';
import { ANSWER, callSearch, createWebSearch, sayInRounds } from './support-server-tools.ts';

const BACKGROUND = { ...QUESTION, background: true };
const WEB = { type: 'web_search' as const };

const toQuestId = (id: string): string => id.slice('resp_'.length);

/** Runs what is ready until the condition holds. */
async function until(app: OpenAIApp, isMet: () => boolean): Promise<void> {
  for (let count = 0; count < 50 && !isMet(); count += 1) await app.settle();
  expect(isMet()).toBe(true);
}

async function untilEnded(app: OpenAIApp, id: string) {
  for (let count = 0; count < 50; count += 1) {
    const response = await app.client.responses.retrieve(id);
    if (response.status !== 'queued' && response.status !== 'in_progress') return response;
    await app.settle();
    await app.clock.advance(1000);
  }
  throw new Error('the response has not ended');
}

async function waitTurns(turns = 5): Promise<void> {
  for (let count = 0; count < turns; count += 1) await turn();
}

describe('the model of a stored response', () => {
  const SMALL: ModelInfo = { ...SCRIPTED_MODEL, id: 'small', name: 'Small', maxOutputTokens: 100 };

  it('is a fallback model within its limits, which the response and its quest name', async () => {
    const onCall = (call: ModelCall) => {
      if (call.request.model === 'scripted') throw new ProviderError('not_configured', 'no key');
      sayAtOnce('Saved.')(call);
    };
    const model = createScriptedProvider(onCall, [SCRIPTED_MODEL, SMALL]);
    const app = await createOpenAIApp({ model, settings: { fallbacks: { scripted: ['small'] } } });
    const response = await app.client.responses.create(QUESTION);
    expect(response).toMatchObject({ model: 'small', output_text: 'Saved.' });
    expect(await app.client.responses.retrieve(response.id)).toMatchObject({ model: 'small' });
    expect(app.calls.map(({ request }) => [request.model, request.maxTokens])).toEqual([
      ['scripted', 4096],
      ['small', 100],
    ]);
    expect(await app.poll(toQuestId(response.id))).toMatchObject({
      stopReason: 'stop',
      fallbackInfo: { primaryModel: 'scripted', fallbackModel: 'small' },
    });
  });

  it('stays named by a response that breaks off', async () => {
    const onCall = (call: ModelCall) => {
      if (call.request.model === 'scripted') throw new ProviderError('not_configured', 'no key');
      call.say({ type: 'text', text: 'Sav' });
      call.fail(new ProviderError('invalid_request', 'no'));
    };
    const model = createScriptedProvider(onCall, [SCRIPTED_MODEL, SMALL]);
    const app = await createOpenAIApp({ model, settings: { fallbacks: { scripted: ['small'] } } });
    const { id } = await app.client.responses.create(BACKGROUND);
    expect(await untilEnded(app, id)).toMatchObject({ status: 'failed', model: 'small' });
  });

  it('is called by the name that its provider has for it at the time of the call', async () => {
    let isRenamed = false;
    const app = await createOpenAIApp({
      started: false,
      services: (own) => ({
        ...own,
        async getCatalogue(payer) {
          const catalogue = await own.getCatalogue(payer);
          return {
            ...catalogue,
            find(id) {
              const entry = catalogue.find(id);
              return isRenamed && entry !== undefined ? { ...entry, providerModel: `new-${id}` } : entry;
            },
          };
        },
      }),
    });
    const { id } = await app.client.responses.create(BACKGROUND);
    isRenamed = true;
    await app.api.start();
    await untilEnded(app, id);
    expect(app.calls.map(({ request }) => request.model)).toEqual(['new-scripted']);
  });

  it('gets fewer output tokens if the credit is low and the request names no limit', async () => {
    const thinking: ModelInfo = { ...SCRIPTED_MODEL, supportsThinking: true, maxOutputTokens: 32_768 };
    const model = createScriptedProvider(sayAtOnce('Hello.'), [thinking]);
    const app = await createOpenAIApp({ model, credits: 100 });
    const refused = await app.send('POST', '/responses', { ...QUESTION, max_output_tokens: 32_768 });
    expect([refused.status, (await readError(refused)).code]).toEqual([429, 'insufficient_quota']);
    expect((await app.send('POST', '/responses', QUESTION)).status).toBe(200);
    expect(app.calls.map(({ request }) => request.maxTokens)).toEqual([6250]);
  });
});

describe('the rounds of a stored response', () => {
  it('are charged before their tools run', async () => {
    const seen: unknown[] = [];
    let read = async (): Promise<unknown> => undefined;
    const web: WebTools = {
      async search() {
        seen.push(await read());
        return [];
      },
    };
    const app = await createOpenAIApp({
      web,
      onCall: sayInRounds([callSearch('c1', 'x')], [ANSWER]),
      ledger: (ledger) => ({
        ...ledger,
        async settle(...given) {
          await waitTurns();
          return ledger.settle(...given);
        },
      }),
    });
    read = async () => {
      const { held } = await app.ledger.balance(app.account);
      const charges = await app.ledger.charges({ account: app.account }, 10);
      return { held, charges: charges.map(({ status, usage }) => ({ status, usage })) };
    };
    await app.client.responses.create({ ...QUESTION, tools: [WEB] });
    expect(seen).toEqual([{ held: 0, charges: [{ status: 'settled', usage: { input: 10, output: 5 } }] }]);
  });

  it('run no tool of an answer that was cut', async () => {
    const { web, queries } = createWebSearch();
    const app = await createOpenAIApp({
      web,
      onCall(call) {
        call.say(callSearch('c1', 'x'), { type: 'usage', usage: { input: 10, output: 5 } });
        call.say({ type: 'finish', reason: 'max_tokens' });
        call.end();
      },
    });
    const response = await app.client.responses.create({ ...QUESTION, tools: [WEB] });
    expect(response).toMatchObject({ status: 'incomplete', output: [] });
    expect(queries).toEqual([]);
    expect(app.calls).toHaveLength(1);
  });

  it('end with a search during which the response is cancelled, without its result', async () => {
    let isAsked = false;
    let find = (): void => undefined;
    const web: WebTools = {
      async search() {
        isAsked = true;
        await new Promise<void>((resolve) => {
          find = resolve;
        });
        return [];
      },
    };
    const app = await createOpenAIApp({ web, onCall: sayInRounds([callSearch('c1', 'x')], [ANSWER]) });
    const { id } = await app.client.responses.create({ ...BACKGROUND, tools: [WEB] });
    await until(app, () => isAsked);
    await app.client.responses.cancel(id);
    find();
    for (let count = 0; count < 5; count += 1) await app.settle();
    const cancelled = await app.client.responses.retrieve(id);
    expect(cancelled.status).toBe('cancelled');
    expect(cancelled.output).toMatchObject([{ type: 'web_search_call' }]);
    const quest = await app.services.store.collection(QUESTS).get(toQuestId(id));
    expect(quest?.output).toContain('"server_tool_call"');
    expect(quest?.output).not.toContain('"server_tool_result"');
    expect(app.calls).toHaveLength(1);
    expect(await app.ledger.charges({ account: app.account }, 10)).toHaveLength(1);
    expect((await app.ledger.balance(app.account)).held).toBe(0);
  });
});

describe('the approved calls of a stored response', () => {
  const approve = (...ids: readonly string[]) => [
    { role: 'user' as const, content: 'Hi' },
    ...ids.map((id) => ({
      type: 'mcp_approval_request' as const,
      id,
      server_label: 'notes',
      name: 'write',
      arguments: JSON.stringify({ text: id }),
    })),
    ...ids.map((id) => ({
      type: 'mcp_approval_response' as const,
      approval_request_id: id,
      approve: true,
    })),
  ];
  const tools = [{ type: 'mcp' as const, server_label: 'notes', require_approval: 'always' as const }];

  const slowUpdates = (store: Store): Store => ({
    collection(definition) {
      const records = store.collection(definition);
      if (definition.name !== QUESTS.name) return records;
      return {
        ...records,
        async update(...given) {
          await waitTurns();
          return records.update(...given);
        },
      };
    },
    transaction: (work, options) => store.transaction(work, options),
  });

  it('come after the list of the tools, and run when they are stored and nothing is held', async () => {
    const memory = createMemoryEventLog({ clock: createFakeClock(NOW) });
    const eventLog: EventLog = {
      ...memory,
      async append(...given) {
        await waitTurns();
        return memory.append(...given);
      },
    };
    const server = createToolServer();
    const app = await createOpenAIApp({
      eventLog,
      onCall: sayInRounds([ANSWER]),
      settings: { tools: [server.registry] },
      store: slowUpdates,
      ledger: (ledger) => ({
        ...ledger,
        async release(...given) {
          // Longer than all that comes between.
          await waitTurns(50);
          return ledger.release(...given);
        },
      }),
    });
    const seen: unknown[] = [];
    server.answer = async (_call, { sessionId }) => {
      const quest = await app.services.store.collection(QUESTS).get(sessionId ?? '');
      const events = await memory.read(sessionId ?? '', 0);
      const { held } = await app.ledger.balance(app.account);
      const last = events?.at(-1)?.event as { readonly part?: { readonly type: string } } | undefined;
      seen.push([quest?.text, last?.part?.type, held]);
      return { content: 'Written.', isError: false };
    };
    const response = await app.client.responses.create({ ...QUESTION, tools, input: approve('mcpr_1') });
    expect(seen).toEqual([[' ', 'server_tool_call', 0]]);
    const types = response.output.map(({ type }) => type).filter((type) => type !== 'reasoning');
    expect(types).toEqual(['mcp_list_tools', 'mcp_call', 'message']);
  });

  it('end with the one during which the response is cancelled, without its result', async () => {
    const server = createToolServer();
    const app = await createOpenAIApp({ settings: { tools: [server.registry] } });
    let answer = (): void => undefined;
    server.answer = async () => {
      await new Promise<void>((resolve) => {
        answer = resolve;
      });
      return { content: 'Written.', isError: false };
    };
    const input = approve('mcpr_1', 'mcpr_2');
    const { id } = await app.client.responses.create({ ...BACKGROUND, tools, input });
    await until(app, () => server.calls.length === 1);
    await app.client.responses.cancel(id);
    answer();
    for (let count = 0; count < 5; count += 1) await app.settle();
    expect(server.calls.map(({ input: given }) => given)).toEqual([{ text: 'mcpr_1' }]);
    const quest = await app.services.store.collection(QUESTS).get(toQuestId(id));
    expect(quest).toMatchObject({ status: 'stopped', output: expect.stringContaining('"server_tool_call"') });
    expect(quest?.output).not.toContain('"server_tool_result"');
    expect(app.calls).toHaveLength(0);
  });

  it('do not run if the response is cancelled while they are stored', async () => {
    const memory = createMemoryEventLog({ clock: createFakeClock(NOW) });
    let cancel = async (): Promise<unknown> => undefined;
    const eventLog: EventLog = {
      ...memory,
      async append(id, batch) {
        if (JSON.stringify(batch.events).includes('"server_tool_call"')) await cancel();
        return memory.append(id, batch);
      },
    };
    const server = createToolServer();
    const app = await createOpenAIApp({
      eventLog,
      started: false,
      settings: { tools: [server.registry] },
    });
    const { id } = await app.client.responses.create({ ...BACKGROUND, tools, input: approve('mcpr_1') });
    cancel = () => app.client.responses.cancel(id);
    await app.api.start();
    const cancelled = await untilEnded(app, id);
    for (let count = 0; count < 5; count += 1) await app.settle();
    expect(cancelled.status).toBe('cancelled');
    expect(server.calls).toEqual([]);
    expect(app.calls).toHaveLength(0);
  });
});
