import { describe, expect, it } from 'vitest';
import { type ModelMessage, type ModelPart, ProviderError } from '../../ports/models.ts';
import { StorageUnavailable } from '../../ports/store.ts';
import type { RunContext } from '../../runs/run-context.ts';
import { ApiError } from '../../shared/errors.ts';
import type { ModelSession } from '../conversation/turn.ts';
import { masterQuest } from './master.ts';

const CONVERSATION: readonly ModelMessage[] = [
  { role: 'user', content: [{ type: 'text', text: 'Plan it' }] },
];
const OUT_OF_CREDIT = new ApiError(422, 'Insufficient credits', { code: 'insufficient_credits' });
const TOOLS = ['look', 'mail'].map((name) => ({ name, description: '', inputSchema: {} }));
const control = { cancelAfterDisconnect: async () => undefined };
const text = (words: string): ModelPart => ({ type: 'text', text: words });
const call = (name: string): ModelPart => ({ type: 'tool_use', id: name, name, arguments: '{}' });

const planned = (...tasks: readonly (readonly [id: string, ...dependsOn: string[]])[]) => [
  text(
    JSON.stringify({
      tasks: tasks.map(([id, ...dependsOn]) => ({
        id,
        title: `T${id}`,
        instructions: `Do ${id}.`,
        dependsOn,
      })),
    }),
  ),
];

/** Answers in turn: parts; an error instead of them, or after the first output. */
type Answer = readonly (ModelPart | Error)[] | Error;

interface Setting {
  readonly plan: Answer;
  /** By id of the task. */
  readonly tasks?: Readonly<Record<string, readonly Answer[]>>;
  readonly synthesis?: Answer;
  readonly maxToolCalls?: number;
  /** Called before each answer, with the name of its part. */
  readonly onAsk?: (name: string, leaving: AbortController) => void;
}

function start({ plan, tasks = {}, synthesis = [text('All.')], maxToolCalls = 0, onAsk }: Setting) {
  const log: string[] = [];
  const asked: { readonly role: string; readonly said: string }[] = [];
  const updates: object[] = [];
  const incidents: unknown[] = [];
  const shown: { tasks: { id: string; state: string; result?: string }[] }[] = [];
  const rounds: number[] = [];
  const options: unknown[] = [];
  const offered = new Map<string, readonly string[]>();
  const leaving = new AbortController();
  const counts = new Map<string, number>();
  const answerOf = (said: string): { readonly name: string; readonly answer: Answer } => {
    const task = /Do (\w+)\./.exec(said)?.[1];
    if (said.includes('Use these results')) return { name: 'synthesis', answer: synthesis };
    if (task === undefined) return { name: 'plan', answer: plan };
    const place = counts.get(task) ?? 0;
    counts.set(task, place + 1);
    return { name: task, answer: tasks[task]?.[place] ?? [text(`Result ${task}`)] };
  };
  const session = {
    tools: () => TOOLS,
    async ask(messages: readonly ModelMessage[], tools: typeof TOOLS, given: unknown) {
      const isPlan = messages[0]?.role === 'system';
      const said = JSON.stringify(isPlan ? '' : messages);
      const { name, answer } = answerOf(said);
      log.push(`ask ${name}`);
      asked.push({ role: name, said });
      options.push(given);
      offered.set(
        name,
        tools.map((tool) => tool.name),
      );
      onAsk?.(name, leaving);
      if (answer instanceof Error) throw answer;
      const parts = answer.values();
      const chunks = {
        async next() {
          const step = parts.next();
          if (step.value instanceof Error) throw step.value;
          return step;
        },
      };
      const meter = { record: () => undefined, awaitsReport: false, finishReason: 'stop' };
      return { money: { name, meter, control }, chunks };
    },
    endRound: async () => undefined,
    async runTool(name: string, _input: unknown, place: string) {
      log.push(`run ${name} at ${place}`);
      return { content: 'seen', isError: false };
    },
    waitsFor: (name: string) => (name === 'mail' ? { kind: 'approval', tool: name } : undefined),
    signal: leaving.signal,
  } as unknown as ModelSession;
  let written = '';
  const writer = {
    text: () => written,
    append(more: string) {
      written += more;
    },
    show(payload: { payload: (typeof shown)[number] }) {
      const push = (next: { payload: (typeof shown)[number] }) => void shown.push(next.payload);
      push(payload);
      return push;
    },
    async save() {
      await new Promise(setImmediate);
      log.push('save');
    },
  };
  const run = {
    writer,
    signal: leaving.signal,
    quest: { request: { requestId: 'request-1' } },
    progress: () => ({}),
    update: (change: object) => void updates.push(change),
    endStep: async ({ name }: { name: string }, end: string) => {
      await new Promise(setImmediate);
      log.push(`end ${name} ${end}`);
    },
    live: {
      startRound(iteration: number) {
        rounds.push(iteration);
        return { part: () => undefined, result: () => undefined };
      },
    },
  } as unknown as RunContext;
  const outcome = masterQuest({
    services: { onError: (incident) => void incidents.push(incident) },
    ...{ run, modelSession: session, conversation: CONVERSATION, maxToolCalls },
  });
  const states = () => Object.fromEntries((shown.at(-1)?.tasks ?? []).map(({ id, state }) => [id, state]));
  return {
    outcome,
    log,
    asked,
    updates,
    incidents,
    shown,
    states,
    rounds,
    options,
    offered,
    writer,
    leaving,
  };
}

describe('plan of a request', () => {
  it('is paid, shown, worked on and combined', async () => {
    const quest = start({ plan: planned(['a'], ['b', 'a']), synthesis: [text('All '), text('done.')] });
    expect(await quest.outcome).toEqual({ type: 'message' });
    expect(quest.log).toEqual([
      ...['ask plan', 'end plan finished', 'save', 'ask a', 'end a finished', 'ask b', 'end b finished'],
      'ask synthesis',
    ]);
    expect(quest.options[0]).toEqual({ taskTokens: 2000 });
    expect(Object.fromEntries(quest.offered)).toEqual({ plan: [], a: [], b: [], synthesis: [] });
    expect(quest.writer.text()).toBe('## Ta\n\nResult a\n\n## Tb\n\nResult b\n\nAll done.');
    expect(quest.updates).toEqual([{ stopReason: 'stop' }, { answer: 'All done.' }]);
    expect([quest.states(), quest.rounds, quest.incidents]).toEqual([{ a: 'done', b: 'done' }, [1], []]);
    expect(quest.asked[1]?.said).not.toContain('depends on');
    expect(quest.asked[2]?.said).toContain('## Ta\\n\\nResult a');
    expect(quest.asked[3]?.said).toContain('## Ta\\n\\nResult a\\n\\n## Tb\\n\\nResult b');
    expect(quest.asked[3]?.said).not.toContain('failed');
    expect(
      quest.shown.some(({ tasks }) =>
        tasks.some((one) => one.state === 'running' && one.result === 'Result a'),
      ),
    ).toBe(true);
  });

  it.each([
    ['no usable answer', [text('No.')], ['ask plan', 'end plan finished']],
    ['no credit', OUT_OF_CREDIT, ['ask plan']],
  ])('is absent with %s', async (_name, plan, log) => {
    const quest = start({ plan });
    expect([await quest.outcome, quest.log, quest.shown]).toEqual([undefined, log, []]);
  });

  it('fails the turn when it cannot be asked for', async () => {
    const quest = start({ plan: new ApiError(502, 'away') });
    await expect(quest.outcome).rejects.toThrow('away');
  });

  it('is not worked on after the turn is stopped', async () => {
    const quest = start({ plan: planned(['a'], ['b']) });
    quest.writer.save = async () => quest.leaving.abort(new Error('stopped'));
    await expect(quest.outcome).rejects.toThrow('stopped');
    expect(quest.log).not.toContain('ask a');
  });

  it('leaves the results as the answer where no text combines them', async () => {
    const quest = start({ plan: planned(['a'], ['b']), synthesis: [] });
    expect(await quest.outcome).toEqual({ type: 'message' });
    expect(quest.updates).toEqual([{ stopReason: 'stop' }]);
  });
});

describe('task of a plan', () => {
  it.each([
    [5, { a: 2, b: 2, c: 1 }],
    [3, { a: 1, b: 1, c: 1 }],
    [1, { a: 1, b: 0, c: 0 }],
  ])('has its share of %i tool calls: %j, without any that wait', async (maxToolCalls, shares) => {
    const looks = Array.from({ length: 4 }, () => [call('look')]);
    const quest = start({
      plan: planned(['a'], ['b'], ['c']),
      tasks: { a: looks, b: looks, c: looks },
      maxToolCalls,
    });
    await quest.outcome;
    expect(quest.offered.get('a')).toEqual(['look']);
    for (const [id, share] of Object.entries(shares)) {
      const places = quest.log.filter((entry) => entry.startsWith(`run look at ${id}:`));
      expect(places).toEqual(Array.from({ length: share }, (_, at) => `run look at ${id}:${at}`));
    }
  });

  it('fails without text, and the others are combined with its title as missing', async () => {
    const quest = start({ plan: planned(['a'], ['b'], ['c', 'a']), tasks: { a: [[text('  ')]] } });
    expect(await quest.outcome).toEqual({ type: 'message' });
    expect(quest.states()).toEqual({ a: 'failed', b: 'done', c: 'skipped' });
    expect(quest.shown.at(-1)?.tasks[0]?.result).toBe('The task returned no text.');
    expect(quest.asked.at(-1)?.said).toContain('These tasks failed: Ta; Tc.');
    expect(quest.asked.at(-1)?.said).not.toContain('## Ta');
    expect(quest.writer.text()).toBe('## Tb\n\nResult b\n\nAll.');
    expect(quest.log).toContain('end a finished');
  });

  it('fails with the first reason when no task is done', async () => {
    const broken = new ProviderError('failed', 'secret');
    const quest = start({
      plan: planned(['a'], ['b']),
      tasks: { a: [[text('A'), broken]], b: [new ApiError(422, 'too long')] },
    });
    expect(await quest.outcome).toMatchObject({
      type: 'error',
      explanation: expect.stringMatching(/too long|the provider failed/),
    });
    expect(quest.log).toContain('end a broken');
    expect(quest.log).not.toContain('end b broken');
    expect(quest.incidents).toEqual([{ operation: 'questMaster', requestId: 'request-1', error: broken }]);
    expect(JSON.stringify(quest.shown)).not.toContain('secret');
    expect(quest.log).not.toContain('ask synthesis');
  });

  it('is tried again alone where another one left no credit', async () => {
    const quest = start({ plan: planned(['a'], ['b']), tasks: { b: [OUT_OF_CREDIT] } });
    expect(await quest.outcome).toEqual({ type: 'message' });
    expect([quest.states(), quest.incidents]).toEqual([{ a: 'done', b: 'done' }, []]);
  });

  it.each([
    ['credit between its rounds', [[call('look')], OUT_OF_CREDIT], 'Insufficient'],
    ['storage', [new StorageUnavailable('away')], 'away'],
    ['credit even alone', [OUT_OF_CREDIT, OUT_OF_CREDIT, OUT_OF_CREDIT], 'Insufficient'],
  ])('ends the turn without %s', async (_name, answers, message) => {
    const quest = start({ plan: planned(['a'], ['b']), tasks: { a: answers }, maxToolCalls: 4 });
    await expect(quest.outcome).rejects.toThrow(message);
    expect([quest.log.includes('end a broken'), quest.incidents]).toEqual([false, []]);
  });

  it('has not failed when the turn is stopped', async () => {
    const quest = start({
      plan: planned(['a'], ['b']),
      onAsk: (name, leaving) => void (name === 'b' && leaving.abort(new Error('stopped'))),
    });
    await expect(quest.outcome).rejects.toThrow('stopped');
    expect([quest.log.filter((entry) => entry.endsWith('broken')), quest.incidents]).toEqual([[], []]);
  });
});
