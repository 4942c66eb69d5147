import { describe, expect, it } from 'vitest';
import type { ModelMessage } from '../../ports/models.ts';
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

describe('conversation that exceeds the context window', () => {
  it('loses its oldest messages, never its task, and drops complete tool rounds', () => {
    const kept = new Set<string>();
    for (let limit = 0; limit < 500; limit += 5) kept.add(marks(fitConversation(TALK, limit)).join(', '));
    expect([...kept]).toEqual([
      'system, task, use c, result c',
      'system, task, use b, result b, use c, result c',
      'system, task, use a, result a, use b, result b, use c, result c',
      'system, one, two, task, use a, result a, use b, result b, use c, result c',
    ]);
  });

  it('is cut in blocks, so that most turns begin with the same message', () => {
    const beginnings: (string | undefined)[] = [];
    for (let length = 24; length < 40; length += 2) {
      const earlier = Array.from({ length }, (_, place) =>
        text(place % 2 === 0 ? 'user' : 'assistant', `m${place}`),
      );
      const fitting = fitConversation([...earlier, text('user', 'now')], 800);
      expect(fitting.length).toBeLessThanOrEqual(20);
      beginnings.push(marks(fitting)[0]);
    }
    expect(new Set(beginnings).size).toBeLessThan(beginnings.length / 1.5);
  });

  it('keeps a leading answer when nothing is cut', () => {
    const modelSession = [text('assistant', 'two'), text('user', 'three')];
    expect(fitConversation(modelSession, 10_000)).toBe(modelSession);
  });

  it('stays unchanged when it fits', () => {
    expect(fitConversation(TALK, 10_000)).toBe(TALK);
  });
});
