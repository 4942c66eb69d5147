import { describe, expect, it } from 'vitest';
import { openStream, parse } from '../../../test/ui-stream.ts';

const STEP = { type: 'start-step' };
const quest = (data: object) => ({
  type: 'data-quest',
  id: 'quest',
  data: { id: 'q', sessionId: 's', ...data },
});

describe('the stream of an answer', () => {
  it('begins with the quest', () => {
    const { encoder } = openStream();
    expect(encoder.begin.startsWith('data: ')).toBe(false);
    expect(parse(encoder.begin)).toEqual([
      { type: 'start', messageId: 'q', messageMetadata: { questId: 'q', sessionId: 's' } },
      quest({ status: 'running' }),
    ]);
  });

  it('has its events in their order', () => {
    const { apply } = openStream();
    const usage = { totalTokens: 3 };
    const chunks = apply(
      { type: 'reasoning', text: 'hm' },
      { type: 'text', text: 'a' },
      { type: 'tool-start', id: 'c', name: 'search' },
      { type: 'tool-delta', id: 'c', text: '{}' },
      { type: 'tool-result', id: 'c', isError: false },
      { type: 'usage', ...usage },
      { type: 'step' },
      { type: 'step', step: 'x' },
      { type: 'unknown' },
    ) as { type: string; data?: unknown }[];
    expect(chunks.map(({ type }) => type)).toEqual([
      ...['start-step', 'reasoning-start', 'reasoning-delta', 'reasoning-end', 'text-start', 'text-delta'],
      ...[
        'text-end',
        'tool-input-start',
        'tool-input-delta',
        'tool-input-available',
        'tool-output-available',
      ],
      ...['data-credits', 'finish-step', 'start-step'],
    ]);
    expect(apply({ type: 'step', step: 'x' })).toEqual([]);
    expect(chunks.find(({ type }) => type === 'data-credits')).toEqual({
      ...{ type: 'data-credits', id: 'credits', data: usage },
    });
  });

  it('shows payloads and their sources', () => {
    const { apply } = openStream();
    const payload = { type: 'citations', payload: [{ file_id: 'f', file_name: 'a.txt' }] };
    expect(apply({ type: 'payload', index: 2, payload })).toEqual([
      { type: 'data-payload', id: 'payload-2', data: payload },
      STEP,
      {
        ...{ type: 'source-document', sourceId: 'f', mediaType: 'application/octet-stream' },
        ...{ title: 'a.txt', filename: 'a.txt' },
      },
    ]);
  });

  it('leaves out attempts that its reader has not seen', () => {
    const { apply } = openStream();
    const events = [
      { type: 'text', text: 'old' },
      { type: 'reset-step', text: '' },
      { type: 'text', text: 'older' },
      { type: 'reset-step', text: 'x' },
      { type: 'text', text: 'y' },
    ];
    const texts = apply(...events).flatMap((chunk) => (chunk as { delta?: string }).delta ?? []);
    expect(texts).toEqual(['x', 'y']);
    const later = apply({ type: 'text', text: 'z' }, { type: 'reset-step', text: 'xyz!' });
    expect(later.flatMap((chunk) => (chunk as { delta?: string }).delta ?? [])).toEqual(['z', '!']);
  });

  it('begins with everything so far for a late reader', () => {
    const { snapshot } = openStream();
    const tools = [
      { id: 'c', name: 'search', arguments: '{}', isError: true },
      { id: 'd', name: 'search', arguments: '' },
    ];
    const payloads = [{ type: 'image', payload: {} }];
    const chunks = snapshot({ reasoning: 'hm', tools, payloads }, 'text') as { type: string; id?: string }[];
    expect(chunks.find(({ type }) => type === 'data-payload')?.id).toBe('payload-0');
    expect(chunks.map(({ type }) => type)).toEqual(
      [
        ...['start', 'data-quest', 'start-step', 'reasoning-start', 'reasoning-delta', 'reasoning-end'],
        ...['tool-input-start', 'tool-input-delta', 'tool-input-available', 'tool-output-error'],
        ...['tool-input-start', 'data-payload', 'text-start', 'text-delta'],
      ].slice(2),
    );
    expect(
      (snapshot({ reasoning: 'hm' }, 'text!') as { delta?: string }[]).map(({ delta }) => delta),
    ).toEqual(['!']);
  });

  it('ends calls that were decided', () => {
    const continued = { text: '', toolCallIds: new Map([['c', 'q.1.c']]) };
    const { apply } = openStream(continued);
    expect(apply({ type: 'approval-decided', id: 'c', decision: 'reject' })).toEqual([
      { type: 'tool-output-denied', toolCallId: 'q.1.c' },
    ]);
  });
});
