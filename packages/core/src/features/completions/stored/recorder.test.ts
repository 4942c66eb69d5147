import { describe, expect, it } from 'vitest';
import { ApiError } from '../../../shared/errors.ts';
import type { CompletionEncoder, CompletionEnd } from '../encoder.ts';
import { createRecorder } from './recorder.ts';

function setUp() {
  const log: unknown[] = [];
  const encoder = {
    head: 'head',
    add: (part: { readonly type: string }) => void log.push(`add ${part.type}`),
    flush: () => 'flushed',
    end: () => 'ended',
    fail: () => 'failed',
  } as unknown as CompletionEncoder;
  const live = {
    emit: (event: { readonly text: string }) => void log.push(`emit ${event.text}`),
    startRound: (round: number) => {
      log.push(`round ${round}`);
      return { part: (part: { readonly type: string }) => void log.push(`live ${part.type}`) };
    },
  } as unknown as Parameters<typeof createRecorder>[1];
  return { log, recorder: createRecorder(encoder, live, { getModel: () => 'm', creditsPerUsd: 100 }) };
}

const COST = { usage: { input: 5, output: 9 }, charged: 140_000 } as unknown as NonNullable<
  CompletionEnd['cost']
>;

describe('record of a completion', () => {
  it('passes its parts to the readers and to the client', () => {
    const { log, recorder } = setUp();
    recorder.add({ type: 'text', text: 'Hi' });
    recorder.add({ type: 'thinking_delta', text: 'x' });
    expect(log).toEqual([
      'round 1',
      'emit Hi',
      'live text',
      'add text',
      'live thinking_delta',
      'add thinking_delta',
    ]);
    expect([recorder.head, recorder.text(), recorder.flush(), recorder.ended()]).toEqual([
      ...['head', 'Hi', 'flushed', undefined],
    ]);
  });

  it('has its tools and its reasoning if there are any', () => {
    const plain = setUp().recorder;
    expect(plain.end({} as CompletionEnd)).toBe('ended');
    expect(plain.ended()).toEqual({ status: 'done', model: 'm', text: '', outcome: {} });
    const { recorder } = setUp();
    recorder.add({ type: 'thinking', block: { type: 'thinking', thinking: 'x' } });
    recorder.add({ type: 'tool_use', id: 't', name: 'dice', arguments: '{}' });
    recorder.end({} as CompletionEnd);
    expect(recorder.ended()?.outcome).toEqual({
      tools: [{ id: 't', name: 'dice', arguments: '{}' }],
      thinking: [{ type: 'thinking', thinking: 'x' }],
    });
  });

  it('has the reason of its end with its cost only', () => {
    const ends = [{ cost: COST, finishReason: 'stop' }, { finishReason: 'stop' }, { cost: COST }];
    const reasons = ends.map((end) => {
      const { recorder } = setUp();
      recorder.end(end as CompletionEnd);
      return recorder.ended()?.outcome.stopReason;
    });
    expect(reasons).toEqual(['stop', undefined, undefined]);
  });

  it('has the error and the cost of a failure', () => {
    const { recorder } = setUp();
    recorder.add({ type: 'text', text: 'Half' });
    expect(
      recorder.fail(new ApiError(503, 'The model is away.'), {
        cost: COST,
        isMetered: true,
      } as CompletionEnd),
    ).toBe('failed');
    expect(recorder.ended()).toMatchObject({
      ...{ status: 'failed', text: 'Half' },
      outcome: { error: { message: 'The model is away.' }, credits: { used: 0.14 } },
    });
  });
});
