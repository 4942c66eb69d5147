import { setImmediate as turn } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import type { ModelMessage, ModelPart } from '../../ports/models.ts';
import type { WaitingCall } from '../../runs/records.ts';
import type { RunContext } from '../../runs/run-context.ts';
import type { ModelSession, PausedTurn } from '../conversation/turn.ts';
import { runLoop } from './loop.ts';
import type { NewStep } from './steps.ts';

const ASKED: ModelMessage = { role: 'user', content: [{ type: 'text', text: 'Do it' }] };
const TOOL = { name: 'look', description: 'Looks.', inputSchema: {} };

const text = (words: string): ModelPart => ({ type: 'text', text: words });
const call = (name: string, json = '{}'): ModelPart => ({
  type: 'tool_use',
  id: name,
  name,
  arguments: json,
});
const thinking = (thought: unknown): ModelPart => ({
  type: 'thinking',
  block: { type: 'thinking', thinking: thought as string },
});

interface Setting {
  /** What the model says in each round. */
  readonly rounds: readonly (readonly ModelPart[])[];
  readonly tools?: readonly (typeof TOOL)[];
  readonly maxIterations?: number;
  /** The tools whose calls wait. */
  readonly waiting?: readonly string[];
  /** The tools that must not be called. */
  readonly refused?: readonly string[];
  readonly runTool?: ModelSession['runTool'];
  readonly resumed?: { readonly turn: PausedTurn; readonly calls: readonly WaitingCall[] };
}

function start({ rounds, tools = [TOOL], maxIterations = 9, waiting = [], refused = [], ...more }: Setting) {
  const log: string[] = [];
  const steps: NewStep[] = [];
  const asked: Parameters<ModelSession['ask']>[] = [];
  const texts: string[] = [];
  const emitted: object[] = [];
  const leaving = new AbortController();
  const late = async (name: string): Promise<void> => {
    log.push(`begin ${name}`);
    await turn();
    log.push(`end ${name}`);
  };
  const session = {
    tools: () => tools,
    async ask(...question: Parameters<ModelSession['ask']>) {
      log.push('ask');
      asked.push(question);
      const parts = rounds[asked.length - 1] ?? [];
      const meter = { record: () => undefined, awaitsReport: false, finishReason: 'stop' };
      const chunks = [parts].values();
      return { money: { meter }, chunks: { next: async () => chunks.next() } };
    },
    endRound: () => late('charge'),
    async runTool(name: string, _input: unknown, place: string) {
      log.push(`run ${name} at ${place}`);
      return { content: `${name} done`, isError: name === 'fail' };
    },
    waitsFor: (name: string) => (waiting.includes(name) ? { kind: 'approval', tool: name } : undefined),
    signal: leaving.signal,
    ...(more.runTool && { runTool: more.runTool }),
  } as unknown as ModelSession;
  const run = {
    update: (change: object) => void log.push(JSON.stringify(change)),
    writer: { append: (more: string) => void texts.push(more) },
    live: {
      emit: (event: object) => void emitted.push(event),
      startRound: (iteration: number) => ({
        part: ({ type }: ModelPart) => void emitted.push({ iteration, type }),
        result: (id: string, result: object) => void emitted.push({ iteration, id, ...result }),
      }),
    },
  } as unknown as RunContext;
  const input = {
    messages: [ASKED],
    maxIterations,
    async record(step: NewStep) {
      steps.push(step);
      await late(step.type);
    },
    refusal: (name: string) => (refused.includes(name) ? `not ${name}` : undefined),
  };
  const end = runLoop(run, session, input, more.resumed);
  return { end, log, steps, asked, texts, emitted, leaving };
}

describe('round of a run', () => {
  it('is charged and recorded step by step before the next one begins', async () => {
    const { end, log, emitted, asked, steps } = start({
      rounds: [[text('Two.'), call('look'), call('fail')], [text('Done.')]],
    });
    expect(await end).toEqual({ outcome: 'answered', text: 'Done.', iteration: 2, finishReason: 'stop' });
    const whole = (name: string) => [`begin ${name}`, `end ${name}`];
    expect(log).toEqual([
      ...['{"rounds":1}', 'ask', ...whole('charge'), ...whole('thought'), ...whole('action')],
      ...[...whole('action'), 'run look at 1:0', 'run fail at 1:1'],
      ...[...whole('observation'), ...whole('observation')],
      ...['{"rounds":2}', 'ask', ...whole('charge')],
    ]);
    expect(emitted).toEqual([
      ...['text', 'tool_use', 'tool_use'].map((type) => ({ iteration: 1, type })),
      { iteration: 1, id: 'look', isError: false },
      { iteration: 1, id: 'fail', isError: true },
      { iteration: 2, type: 'text' },
    ]);
    expect(asked.map(([messages]) => messages.length)).toEqual([1, 3]);
    expect(steps.slice(1, 3)).toEqual([
      { type: 'action', content: '{}', iteration: 1, toolName: 'look' },
      { type: 'action', content: '{}', iteration: 1, toolName: 'fail' },
    ]);
  });

  it('adds its text as a paragraph', async () => {
    const { end, texts } = start({
      rounds: [[call('look')], [text('One.'), call('look')], [call('look')], [text('Two.')]],
    });
    await end;
    expect(texts).toEqual(['One.', '\n\nTwo.']);
  });

  it.each([
    [thinking('Hm.'), 'Hm.'],
    [thinking(5), undefined],
  ])('has reasoning as its thought only where it can be read', async (part, thought) => {
    const { end, steps } = start({ rounds: [[part, call('look')], [text('Done.')]] });
    await end;
    expect(steps.find(({ type }) => type === 'thought')?.content).toBe(thought);
  });

  it('calls none of its tools when one of them is refused', async () => {
    const { end, steps, log } = start({ rounds: [[call('look'), call('mail')]], refused: ['mail'] });
    expect(await end).toEqual({ outcome: 'refused', reason: 'not mail' });
    expect([steps, log.filter((entry) => entry.startsWith('run'))]).toEqual([[], []]);
  });
});

describe('last round of a run', () => {
  it.each([
    [
      'has its tools, and must not call them',
      { maxIterations: 2 },
      [
        [[TOOL], undefined],
        [[TOOL], 'none'],
      ],
    ],
    ['has no tools as the only one', { maxIterations: 1 }, [[[], undefined]]],
    ['is one without tools', { tools: [] }, [[[], undefined]]],
  ])('%s', async (_name, setting, rounds) => {
    const { end, asked, log, steps } = start({
      rounds: [[call('look')], [call('look')], [text('More.')]],
      ...setting,
    });
    expect(await end).toMatchObject({ outcome: 'answered', text: '', iteration: rounds.length });
    expect(asked.map(([, tools, options]) => [tools, options?.toolChoice])).toEqual(rounds);
    const calls = rounds.length - 1;
    expect(log.filter((entry) => entry.startsWith('run'))).toHaveLength(calls);
    expect(steps.filter(({ type }) => type === 'action')).toHaveLength(calls);
  });
});

describe('call that waits', () => {
  const decided: WaitingCall = { id: '2.0', tool: 'mail', kind: 'approval', input: {} };
  const open = {
    iteration: 2,
    content: [{ type: 'text', text: 'I write.' }],
    uses: [call('mail')],
    results: [null],
  } as unknown as PausedTurn['open'];

  it('pauses the run with the results of the other calls', async () => {
    const { end, steps, emitted } = start({
      rounds: [
        [text('A.'), call('look')],
        [call('mail'), call('look')],
      ],
      waiting: ['mail'],
    });
    const look = { content: 'look done', isError: false };
    expect(await end).toMatchObject({
      outcome: 'paused',
      turn: {
        hasSpoken: true,
        messages: [{ role: 'assistant' }, { role: 'user' }],
        open: { iteration: 2, results: [null, look] },
      },
    });
    expect(steps.filter(({ type }) => type === 'observation')).toHaveLength(1);
    expect(emitted.filter((event) => 'id' in event)).toEqual([
      { iteration: 1, id: 'look', isError: false },
      { iteration: 2, id: 'look', isError: false },
    ]);
  });

  it('is observed after its decision, and the run goes on behind its rounds', async () => {
    const earlier: ModelMessage = { role: 'assistant', content: [{ type: 'text', text: 'A.' }] };
    const { end, log, steps, asked, texts, emitted } = start({
      rounds: [[text('Sent.')]],
      resumed: {
        turn: { messages: [earlier], hasSpoken: true, open },
        calls: [{ ...decided, decision: { type: 'approve' } } as WaitingCall],
      },
    });
    expect(await end).toMatchObject({ outcome: 'answered', text: 'Sent.', iteration: 3 });
    expect(steps).toEqual([{ type: 'observation', content: 'mail done', iteration: 2, toolName: 'mail' }]);
    expect(log).toEqual([
      ...['run mail at 2:0', 'begin observation', 'end observation', '{"rounds":3}', 'ask'],
      ...['begin charge', 'end charge'],
    ]);
    expect(asked[0]?.[0]).toEqual([
      ASKED,
      earlier,
      { role: 'assistant', content: open.content },
      {
        role: 'user',
        content: [
          { type: 'tool_result', toolUseId: 'mail', toolName: 'mail', content: 'mail done', isError: false },
        ],
      },
    ]);
    expect(texts).toEqual(['\n\nSent.']);
    expect(emitted).toMatchObject([{ type: 'approval-decided' }, { type: 'tool-result' }, { iteration: 3 }]);
  });

  it.each([
    [
      'decided',
      {
        rounds: [],
        resumed: {
          turn: { messages: [], hasSpoken: false, open },
          calls: [{ ...decided, decision: { type: 'approve' } } as WaitingCall],
        },
      },
    ],
    ['free', { rounds: [[call('look')]] }],
  ])('does not keep a run that is stopped during a %s call', async (_name, setting) => {
    let begin = (): void => undefined;
    const begun = new Promise<void>((resolve) => {
      begin = resolve;
    });
    const { end, leaving } = start({
      ...setting,
      runTool() {
        begin();
        return new Promise(() => undefined);
      },
    });
    const failed = expect(end).rejects.toThrow('stopped');
    await begun;
    leaving.abort(new Error('stopped'));
    await failed;
  });
});
