import { createApi, createServices } from '@questline/core';
import { MESSAGES, QUESTS } from '@questline/core/internal';
import { ProviderError } from '@questline/core/ports';
import { createFakeIds } from '@questline/testing';
import { describe, expect, it } from 'vitest';
import { answerParts, type ChatApp, type ChatAppOptions, createChatApp } from '../support/chat.ts';
import { callTool } from '../support/execution.ts';
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
/** Two independent tasks and one that depends on both. */
const PLAN = [task('a'), task('b'), task('c', 'a', 'b')];

type Kind = 'plan' | 'together' | 'plain' | `task ${string}`;

/** The purpose of a call. */
function getKind({ request }: ModelCall): Kind {
  const words = JSON.stringify(request.messages);
  if (words.includes('You are a planner')) return 'plan';
  if (words.includes('Use these results to write')) return 'together';
  const part = /Part (\w)\\nDo part/.exec(words)?.[1];
  return part === undefined ? 'plain' : `task ${part}`;
}

function say(call: ModelCall, text: string): void {
  call.say(...answerParts(text));
  call.end();
}

const getPlan = (plan: readonly Planned[]): string => JSON.stringify({ tasks: plan });

/** Plans the tasks; the test controls the named calls. */
function planning(
  plan: readonly Planned[] | string,
  more: (call: ModelCall, kind: Kind) => boolean = () => false,
): (call: ModelCall) => void {
  return (call) => {
    const kind = getKind(call);
    if (more(call, kind)) return;
    if (kind === 'plan') say(call, typeof plan === 'string' ? plan : getPlan(plan));
    else if (kind === 'together') say(call, 'All of it.');
    else if (kind === 'plain') say(call, 'Just so.');
    else say(call, `Result of ${kind}`);
  };
}

const ASK = { message: 'Compare both and recommend one', enableQuestMaster: true, wait: true };
const SOLD = ['plan', 'task a', 'task b', 'task c', 'together'];

const getKinds = ({ calls }: ChatApp): Kind[] => calls.map(getKind);
const callFor = ({ calls }: ChatApp, kind: Kind): ModelCall | undefined =>
  calls.find((call) => getKind(call) === kind);
const getStates = (quest: { toolPayloads?: unknown }): Record<string, string> => {
  const [plan] = quest.toolPayloads as { payload: { tasks: { id: string; state: string }[] } }[];
  return Object.fromEntries((plan?.payload.tasks ?? []).map(({ id, state }) => [id, state]));
};

async function getMoney(app: ChatApp) {
  const charges = await app.ledger.charges({ account: app.account }, 100);
  const settled = charges.filter(({ status }) => status === 'settled');
  const { held, posted } = await app.ledger.balance(app.account);
  return {
    held,
    settled: settled.length,
    spent: settled.reduce((sum, { amount }) => sum + amount, 0),
    posted,
  };
}

describe('quest master', () => {
  it('runs independent tasks in parallel, passes results on and combines them', async () => {
    const app = await createChatApp({ onCall: planning(PLAN) });
    const { body } = await app.chat(ASK);
    expect(getKinds(app)).toEqual(SOLD);
    const reported = (kind: Kind) => JSON.stringify(callFor(app, kind)?.request.messages);
    expect(reported('task a')).toContain('Compare both and recommend one');
    expect(reported('task a')).not.toContain('Result of');
    expect(reported('task c')).toMatch(/Part a.*Result of task a.*Part b.*Result of task b/);
    expect(reported('together')).toMatch(/Result of task a.*Result of task b.*Result of task c/);
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
    const messages = await app.services.store.collection(MESSAGES).find({ sessionId: body.sessionId });
    expect(messages.map(({ content }) => content)).toEqual([ASK.message, 'All of it.']);
    expect(app.incidents).toEqual([]);
  });

  it('charges each call once and reports the total', async () => {
    const app = await createChatApp({ onCall: planning(PLAN) });
    const { body } = await app.chat(ASK);
    const { settled, spent, held, posted } = await getMoney(app);
    expect([settled, held, posted]).toEqual([5, 0, 1_000_000_000 - spent]);
    const { promptMeta } = await app.poll(body.id);
    expect(promptMeta).toMatchObject({ usage: { inputTokens: 50 }, credits: spent / 1_000_000 });
  });

  it('shows the progress of each task', async () => {
    const app = await createChatApp({
      onCall: planning(PLAN, (call, kind) => {
        if (kind === 'task a') call.say({ type: 'text', text: 'So far' });
        return kind !== 'plan' && kind !== 'task b';
      }),
    });
    const { id } = (await app.chat({ ...ASK, wait: false })).body;
    await app.settle();
    await app.clock.advance(500);
    await app.settle();
    const quest = await app.poll(id);
    expect(quest).toMatchObject({ status: 'running', reply: '## Part b\n\nResult of task b' });
    expect(getStates(quest)).toEqual({ a: 'running', b: 'done', c: 'pending' });
    expect(JSON.stringify(quest.toolPayloads)).toContain('So far');
    expect(app.calls.map(getKind)).toEqual(['plan', 'task a', 'task b']);
  });

  it.each([
    ['finds nothing to divide', '{"tasks": []}'],
    ['finds a single task', getPlan([task('a')])],
    ['is not JSON', 'I would start with the weather.'],
    ['is cyclic', getPlan([task('a', 'b'), task('b', 'a')])],
  ])('runs an ordinary turn when the plan %s', async (_name, plan) => {
    const app = await createChatApp({ onCall: planning(plan) });
    const { body } = await app.chat(ASK);
    expect(getKinds(app)).toEqual(['plan', 'plain']);
    expect(body).toMatchObject({ type: 'message', response: 'Just so.', toolPayloads: [] });
    expect(await getMoney(app)).toMatchObject({ settled: 2, held: 0 });
  });

  it.each([
    ['is requested', { message: 'Short', enableQuestMaster: true }, true],
    ['is not', { message: 'Short' }, false],
    ['is enabled by enableTools for a long request', { message: 'x'.repeat(200), enableTools: true }, true],
    [
      'is enabled by enableTools, but the request is short',
      { message: 'x'.repeat(199), enableTools: true },
      false,
    ],
    ['is disabled', { message: 'x'.repeat(200), enableTools: true, enableQuestMaster: false }, false],
    [
      'is not enabled by a tool mode',
      { message: 'x'.repeat(200), enableTools: true, toolMode: 'smart' },
      false,
    ],
  ])('follows the option: it %s', async (_name, body, plans) => {
    const app = await createChatApp({ onCall: planning('{"tasks": []}') });
    await app.chat({ enableMementos: false, ...body, wait: true });
    expect(getKinds(app)).toEqual(plans ? ['plan', 'plain'] : ['plain']);
  });

  it('continues without a failed task and its dependents and reports what is missing', async () => {
    const app = await createChatApp({
      onCall: planning(PLAN, (call, kind) => {
        if (kind === 'task a') call.fail(new ProviderError('invalid_request', 'internal'));
        return kind === 'task a';
      }),
    });
    const { body } = await app.chat(ASK);
    expect(getKinds(app)).toEqual(['plan', 'task a', 'task b', 'together']);
    expect(JSON.stringify(callFor(app, 'together')?.request.messages)).toContain(
      'These tasks failed: Part a; Part c.',
    );
    expect(body.response).toBe('All of it.');
    expect(getStates(body)).toEqual({ a: 'failed', b: 'done', c: 'skipped' });
    expect(await getMoney(app)).toMatchObject({ settled: 3, held: 0 });
  });

  it('fails when no task succeeds', async () => {
    const app = await createChatApp({
      onCall: planning([task('a'), task('b')], (call, kind) => {
        if (kind !== 'plan') call.fail(new ProviderError('invalid_request', 'internal'));
        return kind !== 'plan';
      }),
    });
    const { body } = await app.chat(ASK);
    expect(body).toMatchObject({ type: 'error', status: 'done' });
    expect(body.response).not.toContain('internal');
    expect(await getMoney(app)).toMatchObject({ settled: 1, held: 0 });
  });

  it('divides the tool calls among the tasks', async () => {
    const app = await createChatApp({
      onCall: planning(PLAN, (call, kind) => {
        const { tools, toolChoice } = call.request;
        const mayRoll = tools !== undefined && toolChoice !== 'none' && kind.startsWith('task');
        if (mayRoll) callTool(call, 'dice_roll', { sides: 6 });
        return mayRoll;
      }),
    });
    const { body: session } = await app.json('POST', '/api/v1/sessions', {
      body: { name: 'x', maxToolCalls: 4 },
    });
    const { body } = await app.chat({ ...ASK, sessionId: session.id, tools: ['dice_roll'] });
    // Two, one and one.
    expect(body.toolPayloads.filter(({ type }: { type: string }) => type === 'dice')).toHaveLength(4);
    expect(body.response).toBe('All of it.');
    expect(await getMoney(app)).toMatchObject({ settled: 9, held: 0 });
  });
});

describe('end of the quest master', () => {
  it('stops everything on cancellation, charges what ran and starts no further call', async () => {
    const app = await createChatApp({
      onCall: planning(PLAN, (call, kind) => {
        if (kind === 'task a') call.say({ type: 'text', text: 'x'.repeat(100) });
        return kind !== 'plan';
      }),
    });
    const { id } = (await app.chat({ ...ASK, wait: false })).body;
    await app.settle();
    expect(getKinds(app)).toEqual(['plan', 'task a', 'task b']);
    await app.json('POST', `/api/v1/quests/${id}/cancel`);
    await app.settle();
    expect(app.calls.slice(1).map(({ stopped }) => stopped)).toEqual([true, true]);
    const quest = await app.poll(id);
    expect(quest).toMatchObject({ status: 'stopped' });
    expect(Object.values(getStates(quest))).toEqual(['stopped', 'stopped', 'stopped']);
    // The plan, the text of task a, and the input of task b, which its provider has accepted.
    expect(await getMoney(app)).toMatchObject({ settled: 3, held: 0 });
    expect(await app.services.queue.counts()).toEqual({ ready: 0, delayed: 0, leased: 0 });
  });

  it('runs tasks one after the other with credit for one at a time', async () => {
    // A task holds about 41.5 credits, far more than it uses.
    const app = await createChatApp({ onCall: planning(PLAN), credits: 60 });
    const { body } = await app.chat(ASK);
    expect(body).toMatchObject({ type: 'message', response: 'All of it.' });
    expect(getKinds(app)).toEqual(SOLD);
    expect(await getMoney(app)).toMatchObject({ settled: 5, held: 0 });
  });

  it('ends with the finished tasks without credit for the rest', async () => {
    const costly = (call: ModelCall): void => {
      call.say({ type: 'text', text: 'Dear result' }, { type: 'usage', usage: { input: 10, output: 3000 } });
      call.end();
    };
    const app = await createChatApp({
      credits: 60,
      onCall: planning(PLAN, (call, kind) => {
        if (kind.startsWith('task')) costly(call);
        return kind.startsWith('task');
      }),
    });
    const { body } = await app.chat(ASK);
    expect(getKinds(app)).toEqual(['plan', 'task a']);
    expect(body).toMatchObject({
      status: 'done',
      type: 'error',
      errorCode: 'insufficient_credits',
      responses: ['## Part a\n\nDear result'],
    });
    expect(body.response).toContain('Insufficient credits');
    expect(getStates(body)).toEqual({ a: 'done', b: 'stopped', c: 'stopped' });
    expect(await getMoney(app)).toMatchObject({ settled: 2, held: 0 });
  });

  it('runs an ordinary turn without credit for a plan', async () => {
    const app = await createChatApp({ onCall: planning(PLAN), credits: 6 });
    const { body } = await app.chat({ ...ASK, max_tokens: 500 });
    expect([body.response, getKinds(app)]).toEqual(['Just so.', ['plain']]);
    const poor = await createChatApp({ onCall: planning(PLAN), credits: 5 });
    expect((await poor.chat(ASK)).body).toMatchObject({ errorCode: 'insufficient_credits' });
    expect(await getMoney(poor)).toMatchObject({ settled: 0, held: 0 });
  });

  it('keeps finished tasks over a restart and repeats no call', async () => {
    const app = await createChatApp({ onCall: planning(PLAN, (_call, kind) => kind === 'task b') });
    const { id } = (await app.chat({ ...ASK, wait: false })).body;
    await app.settle();
    const drained = app.api.drain(0);
    await app.settle();
    await drained;
    expect(await app.poll(id)).toMatchObject({
      status: 'done',
      type: 'message',
      reply: '## Part a\n\nResult of task a',
    });
    expect(await getMoney(app)).toMatchObject({ settled: 2, held: 0 });
  });

  it.each([
    ['task b', { status: 'done', type: 'message', text: '## Part a\n\nResult of task a' }, 2],
    ['task a', { status: 'done', type: 'message', text: '## Part b\n\nResult of task b' }, 2],
    ['plan', { status: 'done', type: 'message', answer: 'All of it.' }, 5],
  ] as const)(
    'keeps finished tasks and charges each call once when a worker crashes at %s',
    async (at, expected, paid) => {
      const gate = createGate();
      const options: ChatAppOptions = { store: gate.store, ledger: gate.ledger };
      const app = await createChatApp({
        ...options,
        onCall: planning(PLAN, (_call, kind) => kind === at),
      });
      const { id } = (await app.chat({ ...ASK, wait: false })).body;
      await app.settle();
      await app.clock.advance(500);
      await app.settle();
      gate.shut();
      const model = createScriptedProvider(planning(PLAN));
      const { clock } = app;
      const { limiter } = app.services;
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
          await app.settle();
        }
      };
      await pass();
      expect(await gate.shared.store.collection(QUESTS).get(id)).toMatchObject(expected);
      expect(model.calls.length).toBe(at === 'plan' ? 5 : 0);
      // The process resumes and finds nothing to conclude or charge.
      gate.open();
      for (const call of app.calls) say(call, 'Too late.');
      await pass();
      expect(await gate.shared.store.collection(QUESTS).get(id)).toMatchObject(expected);
      const charges = await gate.shared.ledger.charges({ account: app.account }, 100);
      expect(charges.filter(({ status }) => status === 'settled')).toHaveLength(paid);
      expect((await gate.shared.ledger.balance(app.account)).held).toBe(0);
      await other.close();
    },
  );
});
