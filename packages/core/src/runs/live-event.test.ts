import { describe, expect, it } from 'vitest';
import { END_ID } from '../contract/live-events.ts';
import type { EventLog, SequencedEvent } from '../ports/event-log.ts';
import { joinBatches, toPage } from './event-batches.ts';
import { addToBatch, type LiveEvent } from './live-event.ts';
import { fromFrame, toFrame, toFrames } from './live-frames.ts';
import { createLiveRounds } from './live-round.ts';
import { applyEvents, EMPTY_STATE, readLiveText } from './live-state.ts';

const text = (value: string) => ({ type: 'text', text: value }) as const;
const card = (title: string) => ({ type: 'card', title }) as never;
const sequenced = (events: readonly LiveEvent[], from = 1) =>
  events.map((event, at) => ({ sequence: from + at, event })) as unknown as SequencedEvent[];

describe('batch of events', () => {
  const join = (...events: readonly LiveEvent[]) => {
    const batch: LiveEvent[] = [];
    for (const event of events) addToBatch(batch, event);
    return batch;
  };

  it('joins fragments of one text, of one reasoning and of one call', () => {
    const delta = (id: string, value: string) => ({ type: 'tool-delta', id, text: value }) as const;
    const reasoning = { type: 'reasoning', text: 'r' } as const;
    expect(join(text('a'), text('b'), reasoning, reasoning, text('c'))).toEqual([
      text('ab'),
      { type: 'reasoning', text: 'rr' },
      text('c'),
    ]);
    expect(join(delta('1', 'a'), delta('1', 'b'), delta('2', 'c'), text('d'), delta('2', 'e'))).toEqual([
      delta('1', 'ab'),
      delta('2', 'c'),
      text('d'),
      delta('2', 'e'),
    ]);
    const start = { type: 'tool-start', id: '1', name: 'one' } as const;
    expect(join(start, delta('1', 'a'))).toEqual([start, delta('1', 'a')]);
    const half = 'x'.repeat(32_769);
    expect(join(delta('1', half), delta('1', half))).toHaveLength(2);
    const step = { type: 'step', iteration: 1 } as const;
    expect(join(step, step)).toEqual([step, step]);
  });

  it('joins texts up to 65,536 characters', () => {
    const half = 'x'.repeat(32_768);
    expect(join(text(half), text(half))).toHaveLength(1);
    expect(join(text(half), text(`${half}y`))).toHaveLength(2);
  });

  it('keeps the last payload of each position', () => {
    const payload = (index: number, title: string) =>
      ({ type: 'payload', index, payload: card(title) }) as const;
    expect(join(payload(0, 'a'), text('x'), payload(1, 'b'), payload(0, 'c'))).toEqual([
      text('x'),
      payload(1, 'b'),
      payload(0, 'c'),
    ]);
  });
});

describe('state of a stream', () => {
  it('is what its events amount to', () => {
    const events: LiveEvent[] = [
      { type: 'step', iteration: 2 },
      text('a'),
      text('b'),
      { type: 'reasoning', text: 'r' },
      { type: 'reasoning', text: 's' },
      { type: 'tool-start', id: '1', name: 'one' },
      { type: 'tool-start', id: '2', name: 'two' },
      { type: 'tool-delta', id: '2', text: '{' },
      { type: 'tool-delta', id: '2', text: '}' },
      { type: 'tool-result', id: '2', name: 'two', isError: true },
      { type: 'payload', index: 1, payload: card('b') },
      { type: 'payload', index: 0, payload: card('a') },
      { type: 'payload', index: 1, payload: card('c') },
      { type: 'usage', model: 'm', credits: 1 },
      { type: 'unknown' } as never,
    ];
    expect(applyEvents(EMPTY_STATE, sequenced(events))).toEqual({
      ...{ last: 15, text: 'ab', reasoning: 'rs', iteration: 2 },
      tools: [
        { id: '1', name: 'one', arguments: '' },
        { id: '2', name: 'two', arguments: '{}', isError: true },
      ],
      payloads: [card('a'), card('c')],
      usage: { model: 'm', credits: 1 },
    });
    expect(EMPTY_STATE).toEqual({ last: 0, text: '', reasoning: '', iteration: 0, tools: [], payloads: [] });
  });

  it('begins again at a reset', () => {
    const before = applyEvents(EMPTY_STATE, sequenced([text('a'), { type: 'step', iteration: 1 }]));
    const after = applyEvents(before, sequenced([{ type: 'reset-step', text: 'b' }], 3));
    expect(after).toEqual({ ...EMPTY_STATE, text: 'b', last: 3 });
  });

  it('has its text read page by page', async () => {
    const pages: Record<number, readonly SequencedEvent[] | undefined> = {
      0: sequenced([text('a'), text('b')]),
      2: sequenced([text('c')], 3),
      3: [],
    };
    const read = (more: typeof pages) =>
      readLiveText({ read: async (_stream: string, after: number) => more[after] } as EventLog, 's');
    expect([await read(pages), await read({ ...pages, 3: undefined }), await read({})]).toEqual([
      'abc',
      'abc',
      '',
    ]);
  });
});

describe('frame of an event', () => {
  it('has its sequence and its data, which can be read again', () => {
    const [frame] = toFrames(sequenced([text('a\nb')], 7));
    expect(frame).toEqual({ sequence: 7, text: 'id: 7\ndata: {"type":"text","text":"a\\nb"}\n\n' });
    expect(frame && fromFrame(frame)).toEqual(text('a\nb'));
    expect(toFrame(END_ID, { type: 'end' })).toBe('id: end\ndata: {"type":"end"}\n\n');
  });
});

describe('round of a model', () => {
  const begin = (iteration = 3) => {
    const events: LiveEvent[] = [];
    return { events, round: createLiveRounds((event) => void events.push(event))(iteration) };
  };

  it('shows reasoning and calls as they come, under ids of the round', () => {
    const { events, round } = begin();
    round.part({ type: 'thinking_delta', text: 'hm' });
    round.part({ type: 'thinking_delta', text: '' });
    round.part({ type: 'text', text: 'not here' });
    round.part({ type: 'tool_use_delta', index: 0, id: 'a', name: 'one', arguments: '' });
    round.part({ type: 'tool_use_delta', index: 1, id: 'b', name: 'two', arguments: '{' });
    round.part({ type: 'tool_use_delta', index: 0, arguments: '[]' });
    round.part({ type: 'tool_use_delta', index: 2, arguments: 'lost' });
    round.part({ type: 'tool_use', id: 'a', name: 'one', arguments: '[]' });
    round.part({ type: 'tool_use', id: 'c', name: 'three', arguments: '{}' });
    round.result('b', {});
    round.result('c', { isError: true });
    round.result('unknown', {});
    expect(events).toEqual([
      { type: 'step', iteration: 3 },
      { type: 'reasoning', text: 'hm' },
      { type: 'tool-start', id: '3.0', name: 'one' },
      { type: 'tool-start', id: '3.1', name: 'two' },
      { type: 'tool-delta', id: '3.1', text: '{' },
      { type: 'tool-delta', id: '3.0', text: '[]' },
      { type: 'tool-start', id: '3.2', name: 'three' },
      { type: 'tool-delta', id: '3.2', text: '{}' },
      { type: 'tool-result', id: '3.1', name: 'two', isError: false },
      { type: 'tool-result', id: '3.2', name: 'three', isError: true },
    ]);
  });

  it('shows a call without a name', () => {
    const { events, round } = begin();
    round.part({ type: 'tool_use_delta', index: 0, id: 'a', arguments: '' });
    expect(events.at(-1)).toEqual({ type: 'tool-start', id: '3.0', name: '' });
  });
});

describe('stored batches', () => {
  const batch = (first: number, count: number, value = 'x') => ({
    first,
    last: first + count - 1,
    events: Array.from({ length: count }, () => value),
  });

  it('make a page of the events after a sequence, at most 1,000', () => {
    const page = toPage([batch(3, 2), batch(5, 2)], 3);
    expect(page).toEqual([4, 5, 6].map((sequence) => ({ sequence, event: 'x' })));
    const long = toPage([batch(1, 999), batch(1000, 9)], 0);
    expect([long?.length, long?.at(-1)?.sequence]).toEqual([1000, 1000]);
    expect(toPage([batch(1, 2)], 2)).toEqual([]);
  });

  it('make none where the sequence is not known, and an empty one at the beginning', () => {
    expect(toPage([], 0)).toEqual([]);
    expect(toPage([], 1)).toBeUndefined();
    expect(toPage([batch(3, 2)], 1)).toBeUndefined();
    expect(toPage([batch(3, 2)], 2)).toHaveLength(2);
    expect(toPage([batch(1, 2)], 3)).toBeUndefined();
  });

  it('are joined to fewer ones of at most 65,536 characters, in order and without gaps', () => {
    expect(joinBatches([batch(3, 1, 'c'), batch(1, 2, 'a'), batch(5, 1, 'e')])).toEqual([
      { first: 1, last: 3, events: ['a', 'a', 'c'] },
      { first: 5, last: 5, events: ['e'] },
    ]);
    // The quotes and brackets of JSON count.
    const half = 'x'.repeat(32_764);
    expect(joinBatches([batch(1, 1, half), batch(2, 1, half)])).toHaveLength(1);
    expect(joinBatches([batch(1, 1, half), batch(2, 1, half), batch(3, 1, '')])).toHaveLength(2);
    expect(joinBatches([batch(1, 1, half), batch(2, 1, `${half}y`)])).toHaveLength(2);
  });
});
