import { describe, expect, it } from 'vitest';
import type { ModelMessage } from '../ports/models.ts';
import { fitConversation } from './conversation.ts';

/** 100 characters count as 40 tokens. */
const text = (role: ModelMessage['role'], mark: string): ModelMessage => ({
  role,
  content: [{ type: 'text', text: mark.padEnd(100, '.') }],
});
const round = (mark: string): ModelMessage[] => [
  { role: 'assistant', content: [{ type: 'tool_use', id: mark, name: 'look', input: {} }] },
  {
    role: 'user',
    content: [
      { type: 'tool_result', toolUseId: mark, toolName: 'look', content: '.'.repeat(90), isError: false },
    ],
  },
];
const marks = (messages: readonly ModelMessage[]): string[] =>
  messages.map(({ content: [part] }) => {
    if (part?.type === 'text') return part.text.replaceAll('.', '');
    if (part?.type === 'tool_use') return `use ${part.id}`;
    return part?.type === 'tool_result' ? `result ${part.toolUseId}` : '';
  });

const TALK = [
  text('system', 'system'),
  text('user', 'one'),
  text('assistant', 'two'),
  text('user', 'task'),
  ...round('a'),
  ...round('b'),
  ...round('c'),
];

describe('a conversation that a model cannot hold', () => {
  it('loses what is oldest, never its task, and no half of a round', () => {
    const kept = new Set<string>();
    for (let limit = 0; limit < 500; limit += 5) kept.add(marks(fitConversation(TALK, limit)).join(', '));
    expect([...kept]).toEqual([
      'system, task, use c, result c',
      'system, task, use b, result b, use c, result c',
      'system, task, use a, result a, use b, result b, use c, result c',
      'system, one, two, task, use a, result a, use b, result b, use c, result c',
    ]);
  });

  it('is left as it is when it fits', () => {
    expect(fitConversation(TALK, 10_000)).toBe(TALK);
  });
});
