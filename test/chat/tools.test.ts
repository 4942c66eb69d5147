import type { ToolContext } from '@questline/core';
import type { ToolOffer, ToolRegistry } from '@questline/core/ports';
import { describe, expect, it } from 'vitest';
import { answerParts, type ChatApp, type ChatAppOptions, createChatApp } from '../support/chat.ts';
import { createScriptedProvider, type ModelCall, SCRIPTED_MODEL } from '../support/model.ts';

const offer = (id: string, offered: ToolOffer['offered']): ToolOffer => ({
  id,
  offered,
  schema: { name: id, description: `Does ${id}.`, parameters: { type: 'object' } },
});

const OFFERS = [
  offer('clock', 'default'),
  offer('dice', 'default'),
  offer('search', 'automatic'),
  offer('paint', 'requested'),
  offer('chart', 'requested'),
];

interface Ran {
  readonly tool: string;
  readonly input: unknown;
  readonly context: ToolContext;
}

/** An app with tools. */
async function toolApp(
  options: ChatAppOptions & { run?: ToolRegistry['run']; offers?: readonly ToolOffer[] } = {},
): Promise<ChatApp & { ran: Ran[] }> {
  const { offers = OFFERS } = options;
  const ran: Ran[] = [];
  const toolRegistry: ToolRegistry = {
    list: () => offers,
    find: async (id) => offers.find((one) => one.id === id),
    select: (message) => offers.filter(({ id }) => message.includes(id)),
    async run(call, context) {
      ran.push({ tool: call.tool, input: call.input, context });
      if (options.run !== undefined) return options.run(call, context);
      return { content: `${call.tool} says 4`, isError: false };
    },
  };
  const app = await createChatApp({
    ...options,
    services: (services) => ({ ...services, toolRegistry }),
  });
  return { ...app, ran };
}

const offeredTo = (call: ModelCall | undefined): string[] =>
  (call?.request.tools ?? []).map(({ name }) => name);

describe('selection of tools', () => {
  const echo = (auto: string[], effective: string[], unrecognized: string[] = []) => ({
    autoSelectedTools: auto,
    effectiveTools: effective,
    unrecognizedTools: unrecognized,
  });

  it.each([
    ['no tool option', {}, undefined],
    ['disabled tools', { enableTools: false, tools: [] }, undefined],
    [
      'the default tools',
      { enableTools: true },
      echo(['clock', 'dice', 'search'], ['clock', 'dice', 'search']),
    ],
    [
      'the default tools and named ones',
      { enableTools: true, tools: ['paint', 'clock', 'paint'] },
      echo(['clock', 'dice', 'search'], ['clock', 'dice', 'search', 'paint']),
    ],
    ['only named tools', { tools: ['paint'] }, echo(['search'], ['search', 'paint'])],
    [
      'named tools with enableTools false',
      { enableTools: false, tools: ['paint'] },
      echo(['search'], ['search', 'paint']),
    ],
    ['no automatic tools', { tools: ['paint'], skip_auto_offers: true }, echo([], ['paint'])],
    [
      'no automatic tools with a prompt mode',
      { enableTools: true, promptMode: 'raw' },
      echo(['clock', 'dice'], ['clock', 'dice']),
    ],
    ['fast', { toolMode: 'fast', tools: ['paint', 'odd'] }, { toolMode: 'fast', ...echo([], [], ['odd']) }],
    ['fast with enableTools', { toolMode: 'fast', enableTools: true }, { toolMode: 'fast', ...echo([], []) }],
    [
      'smart',
      { toolMode: 'smart', message: 'roll the dice' },
      { toolMode: 'smart', ...echo(['dice'], ['dice']) },
    ],
    [
      'smart with named tools',
      { toolMode: 'smart', message: 'search, roll the dice', tools: ['chart', 'dice'] },
      { toolMode: 'smart', ...echo(['dice', 'search'], ['dice', 'search', 'chart']) },
    ],
    [
      'at most ten unrecognized tools',
      { tools: [...Array.from({ length: 12 }, (_, n) => `odd${n}`), 'odd1', 'paint'] },
      echo(
        ['search'],
        ['search', 'paint'],
        Array.from({ length: 10 }, (_, n) => `odd${n}`),
      ),
    ],
  ])('returns the selected tools: %s', async (_name, more, expected) => {
    const app = await toolApp();
    const { status, body } = await app.chat({ message: 'Hi', ...more });
    expect([status, body.tools]).toEqual([200, expected]);
    await app.settle();
    // Sorted, because the cached prefix of a prompt must not depend on the order of the request.
    expect(offeredTo(app.calls[0])).toEqual([...(expected?.effectiveTools ?? [])].sort());
  });

  it('is also returned with the completed message', async () => {
    const app = await toolApp();
    const { body } = await app.chat({ message: 'Hi', tools: ['paint'], wait: true });
    expect(body.tools).toEqual(echo(['search'], ['search', 'paint']));
  });

  it('follows the settings of the session', async () => {
    const app = await toolApp();
    const { body: session } = await app.json('POST', '/api/v1/sessions', {
      body: { name: 'Tools', enabledTools: ['chart', 'odd'], disabledTools: ['dice'], maxToolCalls: 0.5 },
    });
    await app.chat({ message: 'Hi', sessionId: session.id, wait: true });
    expect(offeredTo(app.calls[0])).toEqual(['chart', 'search']);
    const { body } = await app.chat({
      message: 'Hi',
      sessionId: session.id,
      enableTools: true,
      wait: true,
    });
    expect(body.tools).toEqual(echo(['clock', 'search'], ['clock', 'search', 'chart']));
  });

  it('never adds a gated tool by default; naming it in the request or session approves it', async () => {
    const gated = (id: string, offered: ToolOffer['offered']) => ({ ...offer(id, offered), gated: true });
    const offers = [
      offer('clock', 'default'),
      gated('wire', 'default'),
      gated('mail', 'automatic'),
      gated('post', 'requested'),
    ];
    const app = await toolApp({ offers });
    const effective = async (body: object) => (await app.chat({ message: 'Hi', ...body })).body.tools;
    expect(await effective({ enableTools: true })).toEqual(echo(['clock'], ['clock']));
    expect(await effective({ tools: ['clock'] })).toEqual(echo([], ['clock']));
    expect(await effective({ toolMode: 'smart', message: 'clock wire mail post' })).toEqual({
      toolMode: 'smart',
      ...echo(['clock'], ['clock']),
    });
    expect(await effective({ enableTools: true, tools: ['wire', 'post'] })).toEqual(
      echo(['clock'], ['clock', 'wire', 'post']),
    );
    const { body: session } = await app.json('POST', '/api/v1/sessions', {
      body: { name: 'Tools', enabledTools: ['mail'] },
    });
    expect(await effective({ enableTools: true, sessionId: session.id })).toEqual(
      echo(['clock'], ['clock', 'mail']),
    );
    await app.settle();
    // The turns run at the same time.
    expect(app.calls.map(offeredTo).toSorted()).toEqual([
      ['clock'],
      ['clock'],
      ['clock'],
      ['clock', 'mail'],
      ['clock', 'post', 'wire'],
    ]);
  });

  it('is empty for a model without tool support', async () => {
    const app = await toolApp({
      model: createScriptedProvider((call) => call.end(), [{ ...SCRIPTED_MODEL, supportsTools: false }]),
    });
    const { body } = await app.chat({ message: 'Hi', enableTools: true, tools: ['odd'], wait: true });
    expect(body.tools).toEqual(echo([], [], ['odd']));
    expect(offeredTo(app.calls[0])).toEqual([]);
  });

  it('accepts only a list of texts', async () => {
    const app = await toolApp();
    for (const tools of ['clock', [7], null]) {
      const { status, body } = await app.chat({ message: 'Hi', tools });
      expect([status, body.error]).toEqual([422, expect.stringContaining('tools')]);
    }
  });
});

describe('turn with tools', () => {
  const use = (id: string, name: string, json: string) =>
    ({ type: 'tool_use', id, name, arguments: json }) as const;
  const USAGE = { type: 'usage', usage: { input: 10, output: 1 } } as const;

  it('runs the requested tools and returns their results until the model answers', async () => {
    const app = await toolApp({
      onCall: (call) => {
        if (app.calls.length === 1) {
          call.say(
            { type: 'thinking', block: { type: 'thinking', thinking: 'Hm.', signature: 's' } },
            { type: 'text', text: 'Let me see.' },
            use('c1', 'dice', '{"sides":6}'),
            use('c2', 'clock', ''),
            USAGE,
            { type: 'finish', reason: 'tool_use' },
          );
        } else call.say(...answerParts('Four.'));
        call.end();
      },
      run: async ({ tool }) => ({
        content: `${tool} says 4`,
        isError: false,
        ...(tool === 'dice' && { payload: { type: 'dice', payload: { rolled: 4 } } }),
      }),
    });
    const { body } = await app.chat({ message: 'Roll', enableTools: true, wait: true });
    expect(body).toMatchObject({
      type: 'message',
      response: 'Let me see.\n\nFour.',
      toolPayloads: [{ type: 'dice', payload: { rolled: 4 } }],
    });
    expect(app.ran.map(({ tool, input }) => [tool, input])).toEqual([
      ['dice', { sides: 6 }],
      ['clock', {}],
    ]);
    expect(app.ran[0]?.context).toMatchObject({
      userId: app.user.id,
      sessionId: body.sessionId,
      payer: { account: app.account },
      callKey: `${body.id}:0`,
    });
    expect(app.calls[1]?.request.messages.slice(-2)).toEqual([
      {
        role: 'assistant',
        content: [
          { type: 'thinking', block: { type: 'thinking', thinking: 'Hm.', signature: 's' } },
          { type: 'text', text: 'Let me see.' },
          { type: 'tool_use', id: 'c1', name: 'dice', input: { sides: 6 } },
          { type: 'tool_use', id: 'c2', name: 'clock', input: {} },
        ],
      },
      {
        role: 'user',
        cacheBreakpoint: true,
        content: [
          { type: 'tool_result', toolUseId: 'c1', toolName: 'dice', content: 'dice says 4', isError: false },
          {
            type: 'tool_result',
            toolUseId: 'c2',
            toolName: 'clock',
            content: 'clock says 4',
            isError: false,
          },
        ],
      },
    ]);
    const quest = (await app.json('GET', `/api/v1/quests/${body.id}`)).body;
    expect(quest.promptMeta).toEqual({
      model: 'scripted',
      usage: { inputTokens: 20, outputTokens: 2 },
      credits: 0.22,
    });
    const charges = await app.ledger.charges({ account: app.account }, 10);
    expect(charges.map(({ status, amount }) => [status, amount])).toEqual([
      ['settled', 110_000],
      ['settled', 110_000],
    ]);
    expect(app.incidents).toEqual([]);
  });

  it('reports a failed call to the model', async () => {
    const app = await toolApp({
      onCall: (call) => {
        if (app.calls.length === 1) {
          call.say(
            use('1', 'dice', '{broken'),
            use('2', 'unknown', '{}'),
            use('3', 'clock', '{}'),
            use('4', 'search', '{}'),
          );
        } else call.say(...answerParts('Sorry.'));
        call.end();
      },
      run: async ({ tool }) => {
        if (tool === 'clock') throw new Error('internal detail');
        return { content: 'no such page', isError: true };
      },
    });
    const { body } = await app.chat({ message: 'Roll', enableTools: true, wait: true });
    expect(body.response).toBe('Sorry.');
    const results = app.calls[1]?.request.messages.at(-1)?.content ?? [];
    expect(results.map((part) => part.type === 'tool_result' && [part.content, part.isError])).toEqual([
      ['The arguments were not valid JSON.', true],
      ['There is no tool unknown.', true],
      ['The tool clock failed.', true],
      ['no such page', true],
    ]);
    expect(app.incidents.map(({ operation }) => operation)).toEqual(['tool:clock']);
  });

  it('runs at most the maximum of calls, then the model must answer', async () => {
    const app = await toolApp({
      onCall: (call) => {
        if (call.request.toolChoice !== 'none')
          call.say(use('a', 'dice', '{}'), use('b', 'dice', '{}'), USAGE);
        else call.say(...answerParts('Enough.'));
        call.end();
      },
    });
    const { body: session } = await app.json('POST', '/api/v1/sessions', {
      body: { name: 'Dice', maxToolCalls: 3 },
    });
    const { body } = await app.chat({
      message: 'Roll',
      sessionId: session.id,
      tools: ['dice'],
      wait: true,
    });
    expect(body.response).toBe('Enough.');
    expect(app.ran).toHaveLength(3);
    expect(app.calls).toHaveLength(3);
    const last = app.calls[2]?.request.messages.at(-1)?.content.at(-1);
    expect(last).toMatchObject({ type: 'tool_result', isError: true });
    // A history with tool calls needs the definitions of these tools.
    expect(app.calls.map(({ request }) => [request.tools?.length, request.toolChoice])).toEqual([
      [2, undefined],
      [2, undefined],
      [2, 'none'],
    ]);
  });

  it('stops on cancellation while a tool runs, aborts its signal and makes no further call', async () => {
    let isAborted = false;
    const app = await toolApp({
      onCall: (call) => {
        call.say(use('a', 'dice', '{}'), USAGE);
        call.end();
      },
      run: (_call, { signal }) =>
        new Promise((resolve) => {
          signal.addEventListener('abort', () => {
            isAborted = true;
            resolve({ content: 'too late', isError: true });
          });
        }),
    });
    const { id } = (await app.chat({ message: 'Roll', tools: ['dice'] })).body;
    await app.settle();
    expect(app.ran).toHaveLength(1);
    const { body } = await app.json('POST', `/api/v1/quests/${id}/cancel`);
    expect(body.status).toBe('stopped');
    await app.settle();
    expect(isAborted).toBe(true);
    expect(app.calls).toHaveLength(1);
    expect((await app.ledger.balance(app.account)).held).toBe(0);
    expect(await app.services.queue.counts()).toEqual({ ready: 0, delayed: 0, leased: 0 });
  });
});
