import { describe, expect, it } from 'vitest';
import { openStream, parse } from '../../../test/ui-stream.ts';

const END_STEP = { type: 'finish-step' };
const quest = (data: object) => ({
  type: 'data-quest',
  id: 'quest',
  data: { id: 'q', sessionId: 's', ...data },
});
const FINISH = { type: 'finish', finishReason: 'stop' };

describe('the end of a stream', () => {
  it('has the state and the reason', () => {
    const { encoder, apply, end } = openStream();
    parse(encoder.begin);
    apply({ type: 'text', text: 'hi' });
    expect(end()).toEqual([
      ...[
        { type: 'text-end', id: 'text-1' },
        END_STEP,
        quest({ status: 'done', type: 'message' }),
        FINISH,
        'DONE',
      ],
    ]);
  });

  it.each([
    ['stop', 'stop'],
    ['max_tokens', 'length'],
    ['content_filter', 'content-filter'],
    ['tool_use', 'tool-calls'],
    ['other', 'other'],
  ] as const)('gives the reason %s as %s', (stopReason, finishReason) => {
    expect(openStream().end({ stopReason }).at(-2)).toEqual({ type: 'finish', finishReason });
  });

  it('has what the answer cost', () => {
    const promptMeta = { totalTokens: 3 } as never;
    expect(openStream().end({ promptMeta }).slice(-3)).toEqual([
      { type: 'data-credits', id: 'credits', data: promptMeta },
      { ...FINISH, messageMetadata: promptMeta },
      'DONE',
    ]);
    expect(openStream().end({ promptMeta, type: 'error' }).slice(-5)).toMatchObject([
      { type: 'data-credits' },
      { type: 'message-metadata', messageMetadata: promptMeta },
      { type: 'error' },
      { type: 'finish', finishReason: 'error' },
      'DONE',
    ]);
  });

  it('shows files, and calls that wait', () => {
    const file = { type: 'file', url: 'u', mediaType: 'a/b', providerMetadata: {} };
    expect(openStream().end({}, [file])).toContainEqual(file);
    const wait = { calls: [{ id: 'c', tool: 'ask', kind: 'answer', input: {} }] } as never;
    const waiting = openStream().end({ status: 'waiting', wait }) as { type: string }[];
    expect(waiting.map(({ type }) => type)).toContain('tool-input-available');
    expect(waiting.at(-2)).toEqual({ type: 'finish', finishReason: 'tool-calls' });
    const ended = openStream().end({ wait }) as { type: string }[];
    expect(ended.map(({ type }) => type)).not.toContain('tool-input-available');
  });

  it('ends calls that were decided, unless they wait again', () => {
    const continued = { text: '', toolCallIds: new Map([['c', 'q.1.c']]) };
    const decided = [{ id: 'c', type: 'approve' }] as never;
    const done = {
      type: 'tool-output-available',
      toolCallId: 'q.1.c',
      output: null,
      dynamic: true,
      providerExecuted: true,
    };
    expect(openStream(continued).end({ decided })).toContainEqual(done);
    const wait = { calls: [{ id: 'c', tool: 'x', kind: 'approval', input: {} }] } as never;
    expect(openStream(continued).end({ decided, status: 'waiting', wait })).not.toContainEqual(done);
  });

  it('of a stopped or failed answer says so', () => {
    const stopped = openStream().end({ status: 'stopped', type: 'message' }) as { type: string }[];
    expect(stopped.at(-2)?.type).toBe('abort');
    const failed = openStream().end({ type: 'error', text: '', explanation: '' } as never) as {
      type: string;
    }[];
    expect(failed.slice(-3)).toEqual([
      { type: 'error', errorText: 'The answer failed.' },
      { type: 'finish', finishReason: 'error' },
      'DONE',
    ]);
  });
});
