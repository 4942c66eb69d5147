import type { ToolContext, ToolOffer, ToolRegistry } from '@questline/core';
import { describe, expect, it } from 'vitest';
import { answerParts, type ChatWorld, type ChatWorldOptions, createChatWorld } from '../support/chat.ts';
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

/** A world whose turns have tools. */
async function toolWorld(
  options: ChatWorldOptions & { run?: ToolRegistry['run']; offers?: readonly ToolOffer[] } = {},
): Promise<ChatWorld & { ran: Ran[] }> {
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
  const world = await createChatWorld({
    ...options,
    services: (services) => ({ ...services, toolRegistry }),
  });
  return { ...world, ran };
}

const offeredTo = (call: ModelCall | undefined): string[] =>
  (call?.request.tools ?? []).map(({ name }) => name);

describe('the choice of tools', () => {
  const echo = (auto: string[], effective: string[], unrecognized: string[] = []) => ({
    autoSelectedTools: auto,
    effectiveTools: effective,
    unrecognizedTools: unrecognized,
  });

  it.each([
    ['nothing said of tools', {}, undefined],
    ['tools turned off', { enableTools: false, tools: [] }, undefined],
    [
      'the default set',
      { enableTools: true },
      echo(['clock', 'dice', 'search'], ['clock', 'dice', 'search']),
    ],
    [
      'the default set and more',
      { enableTools: true, tools: ['paint', 'clock', 'paint'] },
      echo(['clock', 'dice', 'search'], ['clock', 'dice', 'search', 'paint']),
    ],
    ['named tools alone', { tools: ['paint'] }, echo(['search'], ['search', 'paint'])],
    [
      'named tools although turned off',
      { enableTools: false, tools: ['paint'] },
      echo(['search'], ['search', 'paint']),
    ],
    ['no automatic ones', { tools: ['paint'], skip_auto_offers: true }, echo([], ['paint'])],
    [
      'no automatic ones under a prompt mode',
      { enableTools: true, promptMode: 'raw' },
      echo(['clock', 'dice'], ['clock', 'dice']),
    ],
    ['fast', { toolMode: 'fast', tools: ['paint', 'odd'] }, { toolMode: 'fast', ...echo([], [], ['odd']) }],
    [
      'fast beats enableTools',
      { toolMode: 'fast', enableTools: true },
      { toolMode: 'fast', ...echo([], []) },
    ],
    [
      'smart',
      { toolMode: 'smart', message: 'roll the dice' },
      { toolMode: 'smart', ...echo(['dice'], ['dice']) },
    ],
    [
      'smart with named ones',
      { toolMode: 'smart', message: 'search, roll the dice', tools: ['chart', 'dice'] },
      { toolMode: 'smart', ...echo(['dice', 'search'], ['dice', 'search', 'chart']) },
    ],
    [
      'the first ten unknown ones',
      { tools: [...Array.from({ length: 12 }, (_, n) => `odd${n}`), 'odd1', 'paint'] },
      echo(
        ['search'],
        ['search', 'paint'],
        Array.from({ length: 10 }, (_, n) => `odd${n}`),
      ),
    ],
  ])('%s', async (_name, more, expected) => {
    const world = await toolWorld();
    const { status, body } = await world.chat({ message: 'Hi', ...more });
    expect([status, body.tools]).toEqual([200, expected]);
    await world.settle();
    expect(offeredTo(world.calls[0])).toEqual(expected?.effectiveTools ?? []);
  });

  it('is the same in the completed shape', async () => {
    const world = await toolWorld();
    const { body } = await world.chat({ message: 'Hi', tools: ['paint'], wait: true });
    expect(body.tools).toEqual(echo(['search'], ['search', 'paint']));
  });

  it('heeds what the session says', async () => {
    const world = await toolWorld();
    const { body: session } = await world.json('POST', '/api/v1/sessions', {
      body: { name: 'Tools', enabledTools: ['chart', 'odd'], disabledTools: ['dice'], maxToolCalls: 0.5 },
    });
    await world.chat({ message: 'Hi', sessionId: session.id, wait: true });
    expect(offeredTo(world.calls[0])).toEqual(['search', 'chart']);
    const { body } = await world.chat({
      message: 'Hi',
      sessionId: session.id,
      enableTools: true,
      wait: true,
    });
    expect(body.tools).toEqual(echo(['clock', 'search'], ['clock', 'search', 'chart']));
  });

  it('never brings a tool that needs approval; naming it, in the request or in the session, is approval', async () => {
    const gated = (id: string, offered: ToolOffer['offered']) => ({ ...offer(id, offered), gated: true });
    const offers = [
      offer('clock', 'default'),
      gated('wire', 'default'),
      gated('mail', 'automatic'),
      gated('post', 'requested'),
    ];
    const world = await toolWorld({ offers });
    const effective = async (body: object) => (await world.chat({ message: 'Hi', ...body })).body.tools;
    expect(await effective({ enableTools: true })).toEqual(echo(['clock'], ['clock']));
    expect(await effective({ tools: ['clock'] })).toEqual(echo([], ['clock']));
    expect(await effective({ toolMode: 'smart', message: 'clock wire mail post' })).toEqual({
      toolMode: 'smart',
      ...echo(['clock'], ['clock']),
    });
    expect(await effective({ enableTools: true, tools: ['wire', 'post'] })).toEqual(
      echo(['clock'], ['clock', 'wire', 'post']),
    );
    const { body: session } = await world.json('POST', '/api/v1/sessions', {
      body: { name: 'Tools', enabledTools: ['mail'] },
    });
    expect(await effective({ enableTools: true, sessionId: session.id })).toEqual(
      echo(['clock'], ['clock', 'mail']),
    );
    await world.settle();
    expect(world.calls.map(offeredTo)).toEqual([
      ['clock'],
      ['clock'],
      ['clock'],
      ['clock', 'wire', 'post'],
      ['clock', 'mail'],
    ]);
  });

  it('is empty for a model that knows no tools', async () => {
    const world = await toolWorld({
      model: createScriptedProvider((call) => call.end(), [{ ...SCRIPTED_MODEL, supportsTools: false }]),
    });
    const { body } = await world.chat({ message: 'Hi', enableTools: true, tools: ['odd'], wait: true });
    expect(body.tools).toEqual(echo([], [], ['odd']));
    expect(offeredTo(world.calls[0])).toEqual([]);
  });

  it('takes a list of texts only', async () => {
    const world = await toolWorld();
    for (const tools of ['clock', [7], null]) {
      const { status, body } = await world.chat({ message: 'Hi', tools });
      expect([status, body.error]).toEqual([422, expect.stringContaining('tools')]);
    }
  });
});

describe('a turn with tools', () => {
  const use = (id: string, name: string, json: string) =>
    ({ type: 'tool_use', id, name, arguments: json }) as const;
  const USAGE = { type: 'usage', usage: { input: 10, output: 1 } } as const;

  it('runs what the model asks for and gives it the results, until it answers', async () => {
    const world = await toolWorld({
      onCall: (call) => {
        if (world.calls.length === 1) {
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
    const { body } = await world.chat({ message: 'Roll', enableTools: true, wait: true });
    expect(body).toMatchObject({
      type: 'message',
      response: 'Let me see.\n\nFour.',
      toolPayloads: [{ type: 'dice', payload: { rolled: 4 } }],
    });
    expect(world.ran.map(({ tool, input }) => [tool, input])).toEqual([
      ['dice', { sides: 6 }],
      ['clock', {}],
    ]);
    expect(world.ran[0]?.context).toMatchObject({
      userId: world.user.id,
      sessionId: body.sessionId,
      payer: { account: world.account },
      callKey: `${body.id}:0`,
    });
    expect(world.calls[1]?.request.messages.slice(-2)).toEqual([
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
    const quest = (await world.json('GET', `/api/v1/quests/${body.id}`)).body;
    expect(quest.promptMeta).toEqual({
      model: 'scripted',
      usage: { inputTokens: 20, outputTokens: 2 },
      credits: 0.22,
    });
    const charges = await world.ledger.charges({ account: world.account }, 10);
    expect(charges.map(({ status, amount }) => [status, amount])).toEqual([
      ['settled', 110_000],
      ['settled', 110_000],
    ]);
    expect(world.incidents).toEqual([]);
  });

  it('tells the model what went wrong with a call', async () => {
    const world = await toolWorld({
      onCall: (call) => {
        if (world.calls.length === 1) {
          call.say(
            use('1', 'dice', '{broken'),
            use('2', 'nobody', '{}'),
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
    const { body } = await world.chat({ message: 'Roll', enableTools: true, wait: true });
    expect(body.response).toBe('Sorry.');
    const results = world.calls[1]?.request.messages.at(-1)?.content ?? [];
    expect(results.map((part) => part.type === 'tool_result' && [part.content, part.isError])).toEqual([
      ['The arguments were not valid JSON.', true],
      ['There is no tool nobody.', true],
      ['The tool clock failed.', true],
      ['no such page', true],
    ]);
    expect(world.incidents.map(({ operation }) => operation)).toEqual(['tool:clock']);
  });

  it('runs at most as many calls as it may, then the model has to answer', async () => {
    const world = await toolWorld({
      onCall: (call) => {
        if (offeredTo(call).length > 0) call.say(use('a', 'dice', '{}'), use('b', 'dice', '{}'), USAGE);
        else call.say(...answerParts('Enough.'));
        call.end();
      },
    });
    const { body: session } = await world.json('POST', '/api/v1/sessions', {
      body: { name: 'Dice', maxToolCalls: 3 },
    });
    const { body } = await world.chat({
      message: 'Roll',
      sessionId: session.id,
      tools: ['dice'],
      wait: true,
    });
    expect(body.response).toBe('Enough.');
    expect(world.ran).toHaveLength(3);
    expect(world.calls).toHaveLength(3);
    const last = world.calls[2]?.request.messages.at(-1)?.content.at(-1);
    expect(last).toMatchObject({ type: 'tool_result', isError: true });
  });

  it('is broken off by a cancel while a tool runs: its signal says so, nothing more is asked', async () => {
    let isAborted = false;
    const world = await toolWorld({
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
    const { id } = (await world.chat({ message: 'Roll', tools: ['dice'] })).body;
    await world.settle();
    expect(world.ran).toHaveLength(1);
    const { body } = await world.json('POST', `/api/v1/quests/${id}/cancel`);
    expect(body.status).toBe('stopped');
    await world.settle();
    expect(isAborted).toBe(true);
    expect(world.calls).toHaveLength(1);
    expect((await world.ledger.balance(world.account)).held).toBe(0);
    expect(await world.services.queue.counts()).toEqual({ ready: 0, delayed: 0, leased: 0 });
  });
});
