import { describe, expect, it } from 'vitest';
import type { ModelMessage } from '../../ports/models.ts';
import { buildPlanning, buildSynthesis, getTask, section } from './prompts.ts';

const say = (role: ModelMessage['role'], ...texts: string[]): ModelMessage => ({
  role,
  content: texts.map((text) => ({ type: 'text', text })),
});
const SYSTEM = say('system', 'Be kind.');
const EARLIER = [say('user', 'Hi'), say('assistant', 'Hello.')];
const ASKED = say('user', 'Compare both.', 'And a file.');
const CONVERSATION = [SYSTEM, ...EARLIER, ASKED];
const TASK = { id: 'a', title: 'Part A', instructions: 'Do part A.', dependsOn: [] };

const toText = (message: ModelMessage | undefined): string =>
  (message?.content ?? []).map((part) => (part.type === 'text' ? part.text : '')).join('\n---\n');

describe('requests of a plan', () => {
  it('for the plan replaces the system prompt, and keeps the conversation', () => {
    const [first, ...others] = buildPlanning(CONVERSATION);
    expect(first?.role).toBe('system');
    expect(toText(first)).toMatch(/^You are a planner\./);
    expect(others).toEqual([...EARLIER, ASKED]);
  });

  it('for a task keeps the whole conversation, and adds the task to the last message', () => {
    const messages = getTask(CONVERSATION, TASK, []);
    expect(messages.slice(0, -1)).toEqual([SYSTEM, ...EARLIER]);
    const last = messages.at(-1);
    expect([last?.role, last?.content.slice(0, -1)]).toEqual(['user', ASKED.content]);
    expect(toText(last)).toMatch(/Do only the following task.*:\n\nPart A\nDo part A\.$/);
    expect(getTask([], TASK, [])).toMatchObject([{ role: 'user', content: [{ type: 'text' }] }]);
  });

  it('for a dependent task contains the results that it needs', () => {
    const text = toText(
      getTask(CONVERSATION, TASK, [
        ['B', ' b \n'],
        ['C', 'c'],
      ]).at(-1),
    );
    expect(text).toMatch(/Do part A\.\n\nResults of the tasks it depends on:\n\n## B\n\nb\n\n## C\n\nc$/);
  });

  it('for the answer contains all results, and names the tasks that failed', () => {
    const [results, ask] = buildSynthesis(
      CONVERSATION,
      [
        ['A', 'a'],
        ['B', 'b'],
      ],
      [],
    ).slice(-2);
    expect([results?.role, ask?.role]).toEqual(['assistant', 'user']);
    expect(toText(results)).toBe('I have completed the tasks.\n\n## A\n\na\n\n## B\n\nb');
    expect(toText(ask)).toMatch(/^Use these results/);
    const all = buildSynthesis(CONVERSATION, [['A', 'a']], ['B', 'C']);
    expect(all.slice(0, -2)).toEqual(CONVERSATION);
    expect(toText(all.at(-2))).toBe('I have completed the tasks.\n\n## A\n\na\n\nThese tasks failed: B; C.');
  });
});

it('writes a result as a section', () => {
  expect(section('A', '\n text \n')).toBe('## A\n\ntext');
});
