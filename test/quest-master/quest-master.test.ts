import { createApi, createServices, MESSAGES, ProviderError, QUESTS } from '@questline/core';
import { createFakeIds } from '@questline/testing';
import { describe, expect, it } from 'vitest';
import { answerParts, type ChatWorld, type ChatWorldOptions, createChatWorld } from '../support/chat.ts';
import { useTool } from '../support/execution.ts';
import { createGate } from '../support/gate.ts';
import { createScriptedProvider, type ModelCall } from '../support/model.ts';

interface Planned {
  readonly id: string;
  readonly title: string;
  readonly instructions: string;
  readonly dependsOn: readonly string[];
}

const task = (id: string, ...dependsOn: string[]): Planned => ({
  id,
  title: `Part ${id}`,
  instructions: `Do part ${id}.`,
  dependsOn,
});
/** Two that need nothing, and one that needs both. */
const PLAN = [task('a'), task('b'), task('c', 'a', 'b')];

type Kind = 'plan' | 'together' | 'plain' | `task ${string}`;

/** What a call is for. */
function kindOf({ request }: ModelCall): Kind {
  const words = JSON.stringify(request.messages);
  if (words.includes('You plan work')) return 'plan';
  if (words.includes('Now give the whole answer')) return 'together';
  const part = /Part (\w)\\nDo part/.exec(words)?.[1];
  return part === undefined ? 'plain' : `task ${part}`;
}

function say(call: ModelCall, text: string): void {
  call.say(...answerParts(text));
  call.end();
}

const planOf = (plan: readonly Planned[]): string => JSON.stringify({ tasks: plan });

/** Plans, and leaves to the test what it names. */
function planning(
  plan: readonly Planned[] | string,
  more: (call: ModelCall, kind: Kind) => boolean = () => false,
): (call: ModelCall) => void {
  return (call) => {
    const kind = kindOf(call);
    if (more(call, kind)) return;
    if (kind === 'plan') say(call, typeof plan === 'string' ? plan : planOf(plan));
    else if (kind === 'together') say(call, 'All of it.');
    else if (kind === 'plain') say(call, 'Just so.');
    else say(call, `Result of ${kind}`);
  };
}

const ASK = { message: 'Compare both and recommend one', enableQuestMaster: true, wait: true };
const SOLD = ['plan', 'task a', 'task b', 'task c', 'together'];

const kindsOf = ({ calls }: ChatWorld): Kind[] => calls.map(kindOf);
const callFor = ({ calls }: ChatWorld, kind: Kind): ModelCall | undefined =>
  calls.find((call) => kindOf(call) === kind);
const statesOf = (quest: { toolPayloads?: unknown }): Record<string, string> => {
  const [plan] = quest.toolPayloads as { payload: { tasks: { id: string; state: string }[] } }[];
  return Object.fromEntries((plan?.payload.tasks ?? []).map(({ id, state }) => [id, state]));
};

async function moneyOf(world: ChatWorld) {
  const charges = await world.ledger.charges({ account: world.account }, 100);
  const settled = charges.filter(({ status }) => status === 'settled');
  const { held, posted } = await world.ledger.balance(world.account);
  return {
    held,
    settled: settled.length,
    spent: settled.reduce((sum, { amount }) => sum + amount, 0),
    posted,
  };
}

describe('the quest master', () => {
  it('has independent parts done at once, hands results on, and puts them together', async () => {
    const world = await createChatWorld({ onCall: planning(PLAN) });
    const { body } = await world.chat(ASK);
    expect(kindsOf(world)).toEqual(SOLD);
    const told = (kind: Kind) => JSON.stringify(callFor(world, kind)?.request.messages);
    expect(told('task a')).toContain('Compare both and recommend one');
    expect(told('task a')).not.toContain('Result of');
    expect(told('task c')).toMatch(/Part a.*Result of task a.*Part b.*Result of task b/);
    expect(told('together')).toMatch(/Result of task a.*Result of task b.*Result of task c/);
    expect(body).toMatchObject({
      type: 'message',
      response: 'All of it.',
      responses: ['All of it.'],
      toolPayloads: [
        {
          type: 'questmaster',
          payload: {
            tasks: [
              { id: 'a', title: 'Part a', dependsOn: [], state: 'done', result: 'Result of task a' },
              { id: 'b', title: 'Part b', dependsOn: [], state: 'done', result: 'Result of task b' },
              { id: 'c', title: 'Part c', dependsOn: ['a', 'b'], state: 'done', result: 'Result of task c' },
            ],
          },
        },
      ],
    });
    const messages = await world.services.store.collection(MESSAGES).find({ sessionId: body.sessionId });
    expect(messages.map(({ content }) => content)).toEqual([ASK.message, 'All of it.']);
    expect(world.incidents).toEqual([]);
  });

  it('charges each call once, and tells the sum', async () => {
    const world = await createChatWorld({ onCall: planning(PLAN) });
    const { body } = await world.chat(ASK);
    const { settled, spent, held, posted } = await moneyOf(world);
    expect([settled, held, posted]).toEqual([5, 0, 1_000_000_000 - spent]);
    const { promptMeta } = await world.poll(body.id);
    expect(promptMeta).toMatchObject({ usage: { inputTokens: 50 }, credits: spent / 1_000_000 });
  });

  it('shows how far each part is while it works', async () => {
    const world = await createChatWorld({
      onCall: planning(PLAN, (call, kind) => {
        if (kind === 'task a') call.say({ type: 'text', text: 'So far' });
        return kind !== 'plan' && kind !== 'task b';
      }),
    });
    const { id } = (await world.chat({ ...ASK, wait: false })).body;
    await world.settle();
    await world.clock.advance(500);
    await world.settle();
    const quest = await world.poll(id);
    expect(quest).toMatchObject({ status: 'running', reply: '## Part b\n\nResult of task b' });
    expect(statesOf(quest)).toEqual({ a: 'running', b: 'done', c: 'pending' });
    expect(JSON.stringify(quest.toolPayloads)).toContain('So far');
    expect(world.calls.map(kindOf)).toEqual(['plan', 'task a', 'task b']);
  });

  it.each([
    ['says that there is nothing to divide', '{"tasks": []}'],
    ['finds a single task', planOf([task('a')])],
    ['makes no sense', 'I would start with the weather.'],
    ['goes in circles', planOf([task('a', 'b'), task('b', 'a')])],
  ])('leaves the turn an ordinary one when the plan %s', async (_name, plan) => {
    const world = await createChatWorld({ onCall: planning(plan) });
    const { body } = await world.chat(ASK);
    expect(kindsOf(world)).toEqual(['plan', 'plain']);
    expect(body).toMatchObject({ type: 'message', response: 'Just so.', toolPayloads: [] });
    expect(await moneyOf(world)).toMatchObject({ settled: 2, held: 0 });
  });

  it.each([
    ['is asked for', { message: 'Short', enableQuestMaster: true }, true],
    ['is not', { message: 'Short' }, false],
    [
      'comes with enableTools when there is much to do',
      { message: 'x'.repeat(200), enableTools: true },
      true,
    ],
    [
      'comes with enableTools, and there is little to do',
      { message: 'x'.repeat(199), enableTools: true },
      false,
    ],
    ['is turned off', { message: 'x'.repeat(200), enableTools: true, enableQuestMaster: false }, false],
    ['does not come with a mode', { message: 'x'.repeat(200), enableTools: true, toolMode: 'smart' }, false],
  ])('the switch: it %s', async (_name, body, plans) => {
    const world = await createChatWorld({ onCall: planning('{"tasks": []}') });
    await world.chat({ enableMementos: false, ...body, wait: true });
    expect(kindsOf(world)).toEqual(plans ? ['plan', 'plain'] : ['plain']);
  });

  it('goes on without a part that failed and what needs it, and says what is missing', async () => {
    const world = await createChatWorld({
      onCall: planning(PLAN, (call, kind) => {
        if (kind === 'task a') call.fail(new ProviderError('invalid_request', 'internal'));
        return kind === 'task a';
      }),
    });
    const { body } = await world.chat(ASK);
    expect(kindsOf(world)).toEqual(['plan', 'task a', 'task b', 'together']);
    expect(JSON.stringify(callFor(world, 'together')?.request.messages)).toContain(
      'These parts could not be done: Part a; Part c.',
    );
    expect(body.response).toBe('All of it.');
    expect(statesOf(body)).toEqual({ a: 'failed', b: 'done', c: 'skipped' });
    expect(await moneyOf(world)).toMatchObject({ settled: 3, held: 0 });
  });

  it('fails when nothing could be done', async () => {
    const world = await createChatWorld({
      onCall: planning([task('a'), task('b')], (call, kind) => {
        if (kind !== 'plan') call.fail(new ProviderError('invalid_request', 'internal'));
        return kind !== 'plan';
      }),
    });
    const { body } = await world.chat(ASK);
    expect(body).toMatchObject({ type: 'error', status: 'done' });
    expect(body.response).not.toContain('internal');
    expect(await moneyOf(world)).toMatchObject({ settled: 1, held: 0 });
  });

  it('divides the calls of tools among the parts', async () => {
    const world = await createChatWorld({
      onCall: planning(PLAN, (call, kind) => {
        const mayRoll = call.request.tools !== undefined && kind.startsWith('task');
        if (mayRoll) useTool(call, 'dice_roll', { sides: 6 });
        return mayRoll;
      }),
    });
    const { body: session } = await world.json('POST', '/api/v1/sessions', {
      body: { name: 'x', maxToolCalls: 4 },
    });
    const { body } = await world.chat({ ...ASK, sessionId: session.id, tools: ['dice_roll'] });
    // Two, one and one.
    expect(body.toolPayloads.filter(({ type }: { type: string }) => type === 'dice')).toHaveLength(4);
    expect(body.response).toBe('All of it.');
    expect(await moneyOf(world)).toMatchObject({ settled: 9, held: 0 });
  });
});

describe('the quest master and its end', () => {
  it('cancelling stops everything; what ran is charged, nothing more begins', async () => {
    const world = await createChatWorld({
      onCall: planning(PLAN, (call, kind) => {
        if (kind === 'task a') call.say({ type: 'text', text: 'x'.repeat(100) });
        return kind !== 'plan';
      }),
    });
    const { id } = (await world.chat({ ...ASK, wait: false })).body;
    await world.settle();
    expect(kindsOf(world)).toEqual(['plan', 'task a', 'task b']);
    await world.json('POST', `/api/v1/quests/${id}/cancel`);
    await world.settle();
    expect(world.calls.slice(1).map(({ stopped }) => stopped)).toEqual([true, true]);
    const quest = await world.poll(id);
    expect(quest).toMatchObject({ status: 'stopped' });
    expect(Object.values(statesOf(quest))).toEqual(['stopped', 'stopped', 'stopped']);
    // The plan and what task a has said; task b has said nothing, and is free.
    expect(await moneyOf(world)).toMatchObject({ settled: 2, held: 0 });
    expect(await world.services.queue.counts()).toEqual({ ready: 0, delayed: 0, leased: 0 });
  });

  it('with credit for one at a time, parts are done one after the other', async () => {
    // A part holds some 41.5 credits: the hold is far more than it uses.
    const world = await createChatWorld({ onCall: planning(PLAN), credits: 60 });
    const { body } = await world.chat(ASK);
    expect(body).toMatchObject({ type: 'message', response: 'All of it.' });
    expect(kindsOf(world)).toEqual(SOLD);
    expect(await moneyOf(world)).toMatchObject({ settled: 5, held: 0 });
  });

  it('without credit for the rest, it ends with what was done', async () => {
    const costly = (call: ModelCall): void => {
      call.say({ type: 'text', text: 'Dear result' }, { type: 'usage', usage: { input: 10, output: 3000 } });
      call.end();
    };
    const world = await createChatWorld({
      credits: 60,
      onCall: planning(PLAN, (call, kind) => {
        if (kind.startsWith('task')) costly(call);
        return kind.startsWith('task');
      }),
    });
    const { body } = await world.chat(ASK);
    expect(kindsOf(world)).toEqual(['plan', 'task a']);
    expect(body).toMatchObject({
      status: 'done',
      type: 'error',
      errorCode: 'insufficient_credits',
      responses: ['## Part a\n\nDear result'],
    });
    expect(body.response).toContain('Insufficient credits');
    expect(statesOf(body)).toEqual({ a: 'done', b: 'stopped', c: 'stopped' });
    expect(await moneyOf(world)).toMatchObject({ settled: 2, held: 0 });
  });

  it('without credit for a plan, the turn is an ordinary one', async () => {
    const world = await createChatWorld({ onCall: planning(PLAN), credits: 6 });
    const { body } = await world.chat({ ...ASK, max_tokens: 500 });
    expect([body.response, kindsOf(world)]).toEqual(['Just so.', ['plain']]);
    const poor = await createChatWorld({ onCall: planning(PLAN), credits: 5 });
    expect((await poor.chat(ASK)).body).toMatchObject({ errorCode: 'insufficient_credits' });
    expect(await moneyOf(poor)).toMatchObject({ settled: 0, held: 0 });
  });

  it('a restart in between keeps what was done, and asks nothing again', async () => {
    const world = await createChatWorld({ onCall: planning(PLAN, (_call, kind) => kind === 'task b') });
    const { id } = (await world.chat({ ...ASK, wait: false })).body;
    await world.settle();
    const drained = world.api.drain(0);
    await world.settle();
    await drained;
    expect(await world.poll(id)).toMatchObject({
      status: 'done',
      type: 'message',
      reply: '## Part a\n\nResult of task a',
    });
    expect(await moneyOf(world)).toMatchObject({ settled: 2, held: 0 });
  });

  it.each([
    ['task b', { status: 'done', type: 'message', text: '## Part a\n\nResult of task a' }, 2],
    ['task a', { status: 'done', type: 'message', text: '## Part b\n\nResult of task b' }, 2],
    ['plan', { status: 'done', type: 'message', answer: 'All of it.' }, 5],
  ] as const)(
    'a worker that vanishes at %s: what was done stands, each call is paid once',
    async (at, expected, paid) => {
      const gate = createGate();
      const options: ChatWorldOptions = { store: gate.store, ledger: gate.ledger };
      const world = await createChatWorld({
        ...options,
        onCall: planning(PLAN, (_call, kind) => kind === at),
      });
      const { id } = (await world.chat({ ...ASK, wait: false })).body;
      await world.settle();
      await world.clock.advance(500);
      await world.settle();
      gate.shut();
      const model = createScriptedProvider(planning(PLAN));
      const { clock } = world;
      const { limiter } = world.services;
      const other = createApi(
        createServices(
          { ...gate.shared, limiter, clock, ids: createFakeIds(2), models: [model] },
          { jwtSecret: 'a'.repeat(64) },
        ),
      );
      await other.start();
      const pass = async () => {
        for (let passed = 0; passed < 65_000; passed += 5000) {
          await clock.advance(5000);
          await world.settle();
        }
      };
      await pass();
      expect(await gate.shared.store.collection(QUESTS).get(id)).toMatchObject(expected);
      expect(model.calls.length).toBe(at === 'plan' ? 5 : 0);
      // It comes back, and finds nothing that it could end or charge.
      gate.open();
      for (const call of world.calls) say(call, 'Too late.');
      await pass();
      expect(await gate.shared.store.collection(QUESTS).get(id)).toMatchObject(expected);
      const charges = await gate.shared.ledger.charges({ account: world.account }, 100);
      expect(charges.filter(({ status }) => status === 'settled')).toHaveLength(paid);
      expect((await gate.shared.ledger.balance(world.account)).held).toBe(0);
      await other.close();
    },
  );
});
