import { QUESTS } from '@questline/core/internal';
import { describe, expect, it } from 'vitest';
import { createOpenAIApp, readError } from './support.ts';
import { BOTH, FUNCTIONS, QUESTION, readEvents } from './support-responses.ts';
import {
  ANSWER,
  callSearch,
  createWaitingSearch,
  createWebSearch,
  PAGES,
  sayInRounds,
} from './support-server-tools.ts';

const WEB = { type: 'web_search' as const };
const CITATION = {
  type: 'url_citation',
  url: 'https://www.yr.no/oslo',
  title: 'Yr',
  start_index: 15,
  end_index: 43,
};

/** The types of the items of a response. */
const getTypes = (output: readonly { type: string }[]): string[] => output.map(({ type }) => type);

describe.each(BOTH)('web search in a response that is %s', (_title, question) => {
  const search = { ...question, tools: [WEB] };

  it('runs on the server, with the sum of all usage, citations, and exact credits', async () => {
    const { web, queries } = createWebSearch();
    const app = await createOpenAIApp({
      web,
      onCall: sayInRounds([callSearch('c1', 'weather Oslo')], [ANSWER]),
    });
    const response = await app.client.responses.create({
      ...search,
      include: ['web_search_call.action.sources'],
    });
    expect(queries).toEqual([['weather Oslo', 5]]);
    const items = response.output.filter(({ type }) => type !== 'reasoning');
    expect(items).toEqual([
      {
        id: expect.stringMatching(/^ws_/),
        type: 'web_search_call',
        status: 'completed',
        action: {
          type: 'search',
          query: 'weather Oslo',
          queries: ['weather Oslo'],
          sources: PAGES.map(({ url }) => ({ type: 'url', url })),
        },
      },
      expect.objectContaining({
        type: 'message',
        content: [expect.objectContaining({ annotations: [CITATION] })],
      }),
    ]);
    expect(response).toMatchObject({
      status: 'completed',
      usage: { input_tokens: 20, output_tokens: 10, total_tokens: 30 },
      credits: { used: 0.3 },
    });
    expect(app.calls).toHaveLength(2);
    expect(app.calls[1]?.request.messages.slice(1)).toEqual([
      {
        role: 'assistant',
        content: [{ type: 'tool_use', id: 'c1', name: 'web_search', input: { query: 'weather Oslo' } }],
      },
      {
        role: 'user',
        content: [
          {
            type: 'tool_result',
            toolUseId: 'c1',
            toolName: 'web_search',
            content: JSON.stringify(PAGES),
            isError: false,
          },
        ],
      },
    ]);
    const charges = await app.ledger.charges({ account: app.account }, 10);
    expect(charges.map(({ amount }) => amount)).toEqual([150_000, 150_000]);
    expect((await app.ledger.balance(app.account)).held).toBe(0);
  });

  it.each(['null', '"weather"', '[]', '{', '{"query":""}', '{"query":7}'])(
    'is not made with the arguments %s, and the model can correct them',
    async (json) => {
      const { web, queries } = createWebSearch();
      const app = await createOpenAIApp({
        web,
        onCall: sayInRounds(
          [{ type: 'tool_use', id: 'c1', name: 'web_search', arguments: json }],
          [callSearch('c2', 'x')],
          [ANSWER],
        ),
      });
      expect(await app.client.responses.create(search)).toMatchObject({ status: 'completed' });
      expect(app.calls[1]?.request.messages.at(-1)?.content).toMatchObject([
        { content: 'Invalid arguments: expected a query of 1 to 400 characters.', isError: true },
      ]);
      expect(queries).toEqual([['x', 5]]);
      expect(app.incidents).toEqual([]);
    },
  );

  it('streams its items and its events in order, without gaps', async () => {
    const { web } = createWebSearch();
    const app = await createOpenAIApp({ web, onCall: sayInRounds([callSearch('c1', 'x')], [ANSWER]) });
    const events = await readEvents(await app.send('POST', '/responses', { ...search, stream: true }));
    expect(events.map(({ sequence_number }) => sequence_number)).toEqual(events.map((_, index) => index));
    const types = events.map(({ type }) => type.replace('response.', ''));
    const place = types.indexOf('output_item.added');
    expect(types.slice(place, place + 5)).toEqual([
      'output_item.added',
      'web_search_call.in_progress',
      'web_search_call.searching',
      'web_search_call.completed',
      'output_item.done',
    ]);
    expect(types.filter((type) => type === 'output_text.annotation.added')).toHaveLength(1);
    expect(types.at(-1)).toBe('completed');
    const { output = [] } = (events.at(-1)?.response ?? {}) as { output?: unknown[] };
    expect(events.filter(({ type }) => type === 'response.output_item.done').map(({ item }) => item)).toEqual(
      output,
    );
  });

  it('ends with a call of a function of the client, and keeps the results for the next response', async () => {
    const { web } = createWebSearch();
    const weather = { type: 'tool_use' as const, id: 'c2', name: 'weather', arguments: '{"city":"Oslo"}' };
    const app = await createOpenAIApp({
      web,
      onCall: sayInRounds([callSearch('c1', 'x')], [callSearch('c3', 'y'), weather], [ANSWER]),
    });
    const tools = [WEB, ...FUNCTIONS];
    const first = await app.client.responses.create({ ...question, tools });
    expect(first.status).toBe('completed');
    expect(getTypes(first.output.filter(({ type }) => type !== 'reasoning'))).toEqual([
      'web_search_call',
      'function_call',
      'web_search_call',
    ]);
    expect(app.calls).toHaveLength(2);
    await app.client.responses.create({
      ...question,
      tools,
      input: [
        { role: 'user', content: 'Weather in Oslo?' },
        ...(first.output as never[]),
        { type: 'function_call_output', call_id: 'c2', output: '4 degrees' },
      ],
    });
    const history = app.calls[2]?.request.messages.slice(1) ?? [];
    const ids = history.map(({ content }) =>
      content.map((part) => {
        if (part.type === 'tool_use') return part.id;
        return part.type === 'tool_result' ? `${part.toolUseId}: ${part.content}` : part.type;
      }),
    );
    const found = JSON.stringify(PAGES);
    expect(ids.flat()).toEqual(
      expect.arrayContaining(['c1', `c1: ${found}`, 'c2', 'c2: 4 degrees', 'c3', `c3: ${found}`]),
    );
  });

  it('reports a failed search to the model and to the client', async () => {
    const app = await createOpenAIApp({
      web: { search: () => Promise.reject(new Error('secret address')) },
      onCall: sayInRounds([callSearch('c1', 'x')], [ANSWER]),
    });
    const response = await app.client.responses.create(search);
    expect(response.output[0]).toMatchObject({ type: 'web_search_call', status: 'failed' });
    expect(app.calls[1]?.request.messages.at(-1)?.content).toMatchObject([{ isError: true }]);
    expect(JSON.stringify([response, app.calls[1]?.request])).not.toContain('secret');
  });

  it('stops after max_tool_calls, and lets the model answer', async () => {
    const { web, queries } = createWebSearch();
    const calls = [callSearch('c1', 'a'), callSearch('c2', 'b'), callSearch('c3', 'c')];
    const app = await createOpenAIApp({ web, onCall: sayInRounds(calls, [ANSWER]) });
    const response = await app.client.responses.create({ ...search, max_tool_calls: 2 });
    expect(queries).toHaveLength(2);
    expect(response).toMatchObject({ status: 'completed', max_tool_calls: 2 });
    expect(response.output.filter(({ type }) => type === 'web_search_call')).toHaveLength(2);
    expect(app.calls[1]?.request.toolChoice).toBe('none');
    expect(app.calls[1]?.request.messages.at(-1)?.content).toHaveLength(3);
  });

  it.each([
    ['alone', []],
    ['beside functions', FUNCTIONS],
  ])('is incomplete when the model calls it without an end, %s', async (_place, functions) => {
    const { web, queries } = createWebSearch();
    const app = await createOpenAIApp({ web, onCall: sayInRounds([callSearch('c1', 'a')]) });
    const response = await app.client.responses.create({
      ...question,
      tools: [WEB, ...functions],
      max_tool_calls: 3,
    });
    expect(response).toMatchObject({
      status: 'incomplete',
      incomplete_details: { reason: 'max_output_tokens' },
      usage: { output_tokens: 20 },
    });
    expect(queries).toHaveLength(3);
    expect(app.calls).toHaveLength(4);
  });

  it('is incomplete when max_output_tokens is used up by all rounds together', async () => {
    const { web } = createWebSearch();
    const app = await createOpenAIApp({ web, onCall: sayInRounds([callSearch('c1', 'a')]) });
    const response = await app.client.responses.create({ ...search, max_output_tokens: 12 });
    expect(app.calls.map(({ request }) => request.maxTokens)).toEqual([12, 7, 2]);
    expect(response).toMatchObject({ status: 'incomplete', usage: { output_tokens: 15 } });
  });

  it('forces the tool with tool_choice, in the first round only', async () => {
    const { web } = createWebSearch();
    const app = await createOpenAIApp({ web, onCall: sayInRounds([callSearch('c1', 'a')], [ANSWER]) });
    await app.client.responses.create({ ...search, tool_choice: { type: 'web_search_preview' } });
    expect(app.calls.map(({ request }) => request.toolChoice)).toEqual([{ name: 'web_search' }, undefined]);
  });

  it('fails when the credit ends between two rounds, and charges the first', async () => {
    const { web } = createWebSearch();
    const onCall = sayInRounds([callSearch('c1', 'a')]);
    const body = { ...search, stream: true, max_output_tokens: 50 };
    let held = 0;
    const rich = await createOpenAIApp({
      web,
      async onCall(call) {
        held ||= (await rich.ledger.balance(rich.account)).held;
        sayInRounds([ANSWER])(call);
      },
    });
    await rich.send('POST', '/responses', body);
    // Enough for the first round; the second one has a longer input.
    const app = await createOpenAIApp({ web, credits: held / 1_000_000 + 0.2, onCall });
    const answer = await app.send('POST', '/responses', body);
    const events = await readEvents(answer);
    expect(events.map(({ type }) => type).slice(-2)).toEqual(['response.failed', 'error']);
    expect(events.at(-2)?.response).toMatchObject({
      status: 'failed',
      error: { code: 'insufficient_quota' },
      usage: { output_tokens: 5 },
    });
    expect(await app.ledger.charges({ account: app.account }, 10)).toMatchObject([{ amount: 150_000 }]);
    expect((await app.ledger.balance(app.account)).held).toBe(0);
    expect(app.calls).toHaveLength(1);
  });

  it('fails when the model breaks off in a later round, and charges what was produced', async () => {
    const { web } = createWebSearch();
    const first = sayInRounds([callSearch('c1', 'a')]);
    const app = await createOpenAIApp({
      web,
      onCall(call) {
        if (call.request.messages.length === 1) return first(call);
        call.say({ type: 'text', text: 'It ra' });
        call.fail(new Error('cut'));
      },
    });
    const events = await readEvents(await app.send('POST', '/responses', { ...search, stream: true }));
    expect(events.map(({ type }) => type).slice(-2)).toEqual(['response.failed', 'error']);
    expect(await app.ledger.charges({ account: app.account }, 10)).toHaveLength(2);
    expect((await app.ledger.balance(app.account)).held).toBe(0);
  });

  it('leaves repeating to the SDK when the model fails after the search', async () => {
    const { web } = createWebSearch();
    const first = sayInRounds([callSearch('c1', 'a')]);
    const app = await createOpenAIApp({
      web,
      onCall(call) {
        if (call.request.messages.length === 1) return first(call);
        call.say({ type: 'text', text: 'It ra' });
        call.fail(new Error('cut'));
      },
    });
    const answer = await app.send('POST', '/responses', search);
    expect([answer.status, answer.headers.get('x-should-retry')]).toEqual([502, null]);
  });
});

describe('web search', () => {
  it.each(['web_search', 'web_search_2025_08_26', 'web_search_preview', 'web_search_preview_2025_03_11'])(
    'has the name %s',
    async (type) => {
      const { web, queries } = createWebSearch();
      const app = await createOpenAIApp({ web, onCall: sayInRounds([callSearch('c1', 'a')], [ANSWER]) });
      const body = { ...QUESTION, tools: [{ type, search_context_size: 'low' }] };
      expect((await app.send('POST', '/responses', body)).status).toBe(200);
      expect(queries).toEqual([['a', 3]]);
    },
  );

  it.each([
    ['tools[0].type', [{ type: 'web_search_2031_01_01' }], 'web_search: '],
    ['tools[1].type', [WEB, { type: 'web_search_preview' }], 'twice'],
    ['tools[1].name', [WEB, { type: 'function', name: 'web_search' }], 'another tool'],
    ['tools[0].filters', [{ ...WEB, filters: { allowed_domains: ['a.no'] } }], 'not supported'],
    ['tools[0].search_context_size', [{ ...WEB, search_context_size: 'huge' }], ''],
  ])('refuses %s of %j', async (param, tools, message) => {
    const app = await createOpenAIApp(createWebSearch());
    const response = await app.send('POST', '/responses', { ...QUESTION, tools });
    expect(response.status).toBe(400);
    expect(await readError(response)).toMatchObject({ param, message: expect.stringContaining(message) });
  });

  it('is refused by a host without one, and left out where it has no access to the web', async () => {
    const app = await createOpenAIApp({ web: {} });
    const refused = await app.send('POST', '/responses', { ...QUESTION, tools: [WEB] });
    expect(refused.status).toBe(400);
    expect(await readError(refused)).toMatchObject({
      param: 'tools[0].type',
      message: expect.stringContaining('this server has no web search'),
    });
    const offline = { ...QUESTION, tools: [{ ...WEB, external_web_access: false }] };
    const answered = await app.send('POST', '/responses', offline);
    expect(answered.status).toBe(200);
    expect(answered.headers.get('x-ignored-fields')).toBe('tools[0]');
    expect(app.calls[0]?.request.tools).toBeUndefined();
    const forced = await app.send('POST', '/responses', { ...offline, tool_choice: WEB });
    expect(await readError(forced)).toMatchObject({ param: 'tool_choice' });
  });

  it('stays in a stored response: retrieved, resumed and continued', async () => {
    const { web } = createWebSearch();
    const app = await createOpenAIApp({ web, onCall: sayInRounds([callSearch('c1', 'a')], [ANSWER]) });
    const body = { ...QUESTION, tools: [WEB], include: ['web_search_call.action.sources'], stream: true };
    const events = await readEvents(await app.send('POST', '/responses', body));
    const response = events.at(-1)?.response;
    const output = response?.output as readonly unknown[];
    const id = String(response?.id);
    expect(await app.client.responses.retrieve(id)).toMatchObject({ output });
    const rest = await readEvents(await app.send('GET', `/responses/${id}?stream=true&starting_after=4`));
    expect(rest).toEqual(events.slice(5));
    await app.client.responses.create({ ...QUESTION, previous_response_id: id });
    expect(JSON.stringify(app.calls.at(-1)?.request.messages)).toContain('"toolUseId":"c1"');
    const { data } = await app.client.responses.inputItems.list(
      (await app.client.responses.create({ ...QUESTION, previous_response_id: id })).id,
      { order: 'asc' },
    );
    expect(data.map((item) => item.type)).toEqual([
      'message',
      'web_search_call',
      'reasoning',
      'message',
      'message',
    ]);
    expect(data[1]).toEqual(output[0]);
    expect(data[3]).toEqual(output[2]);
  });

  it('keeps its results in a conversation, until its item is deleted', async () => {
    const { web } = createWebSearch();
    const app = await createOpenAIApp({ web, onCall: sayInRounds([callSearch('c1', 'a')], [ANSWER]) });
    const { id: conversation } = await app.client.conversations.create();
    const question = { ...QUESTION, conversation };
    const first = await app.client.responses.create({ ...question, tools: [WEB] });
    await app.client.responses.create(question);
    const getHistory = (): string => JSON.stringify(app.calls.at(-1)?.request.messages);
    expect(getHistory()).toContain('"toolUseId":"c1"');
    const { data } = await app.client.conversations.items.list(conversation, { order: 'asc' });
    const call = data.find(({ type }) => type === 'web_search_call');
    expect(call).toEqual(first.output[0]);
    expect(data[3]).toMatchObject({ content: [{ annotations: [CITATION] }] });
    await app.client.conversations.items.delete(String(call?.id), { conversation_id: conversation });
    await app.client.responses.create(question);
    expect(getHistory()).not.toContain(PAGES[0]?.snippet);
    expect(getHistory()).toContain('It rains');
  });

  it('is stopped by the cancellation of its response, and the round before it is charged', async () => {
    const { web, getReason } = createWaitingSearch();
    const app = await createOpenAIApp({
      web,
      onCall: sayInRounds([callSearch('c1', 'a')], [ANSWER]),
    });
    const { id } = await app.client.responses.create({ ...QUESTION, tools: [WEB], background: true });
    const isSearching = async (): Promise<boolean> => {
      const [quest] = await app.services.store.collection(QUESTS).find({ id: id.slice('resp_'.length) });
      return (quest?.notes?.due ?? []).length > 0;
    };
    for (let count = 0; count < 50 && !(await isSearching()); count += 1) await app.settle();
    expect(await app.client.responses.cancel(id)).toMatchObject({ status: 'cancelled' });
    for (let count = 0; count < 50 && getReason() === undefined; count += 1) await app.settle();
    await app.settle();
    expect(getReason()).toBeInstanceOf(Error);
    const events = await readEvents(await app.send('GET', `/responses/${id}?stream=true`));
    expect(events.map(({ sequence_number }) => sequence_number)).toEqual(events.map((_, index) => index));
    expect(events.at(-1)?.response).toMatchObject({ status: 'cancelled', credits: { used: 0.15 } });
    expect(await app.ledger.charges({ account: app.account }, 10)).toMatchObject([{ amount: 150_000 }]);
    expect((await app.ledger.balance(app.account)).held).toBe(0);
    expect(app.calls).toHaveLength(1);
  });

  it('stops with its client: the search is aborted, and nothing stays held', async () => {
    const leaving = new AbortController();
    let aborted: unknown;
    const app = await createOpenAIApp({
      web: {
        search: (_query, _count, { signal } = {}) =>
          new Promise((_resolve, reject) => {
            signal?.addEventListener('abort', () => {
              aborted = signal.reason;
              reject(signal.reason);
            });
            leaving.abort();
          }),
      },
      onCall: sayInRounds([callSearch('c1', 'a')], [ANSWER]),
    });
    const body = { ...QUESTION, tools: [WEB], store: false as const, stream: true as const };
    await expect(
      (async () => {
        const stream = await app.client.responses.create(body, { signal: leaving.signal });
        for await (const _event of stream);
        leaving.signal.throwIfAborted();
      })(),
    ).rejects.toThrow();
    await expect.poll(() => aborted).toBeDefined();
    await expect.poll(async () => (await app.ledger.balance(app.account)).held).toBe(0);
    expect(app.calls).toHaveLength(1);
    expect(await app.ledger.charges({ account: app.account }, 10)).toMatchObject([{ amount: 150_000 }]);
  });
});
