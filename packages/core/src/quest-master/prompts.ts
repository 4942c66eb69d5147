import type { ModelContent, ModelMessage } from '../ports/models.ts';
import type { PlannedTask } from './plan.ts';

const PLANNER =
  'You plan work, and do none of it. Read the last message of the conversation. If it is one task, or quickly answered, ' +
  'answer {"tasks": []}. Else divide it into two to eight tasks that together do all of it, each of which somebody can do ' +
  'who knows the conversation and the results of the tasks it depends on. Tasks that need nothing of each other are done ' +
  'at the same time, so let a task depend on another one only when it needs its result. Putting the results together is ' +
  'no task of its own.\n\n' +
  'Answer with JSON alone: {"tasks": [{"id": "a", "title": "a few words", "instructions": "what to do and what to hand ' +
  'in", "dependsOn": []}]}';

const TOGETHER =
  'Now give the whole answer to my message, made of these results. Leave nothing important out, say nothing twice, and do ' +
  'not speak of tasks or of how the work was divided. Where a part is missing, say what is missing.';

/** The conversation, for who plans. */
export function planningOf(conversation: readonly ModelMessage[]): readonly ModelMessage[] {
  return [
    { role: 'system', content: [text(PLANNER)] },
    ...conversation.filter(({ role }) => role !== 'system'),
  ];
}

/** The conversation, for who works on one task. */
export function taskOf(
  conversation: readonly ModelMessage[],
  task: PlannedTask,
  results: readonly (readonly [title: string, result: string])[],
): readonly ModelMessage[] {
  const last = conversation.at(-1);
  const order = [
    'Do not answer all of this yet. Do this part of it, and hand in its result alone:',
    `${task.title}\n${task.instructions}`,
    ...(results.length > 0 ? [`What was found out before:\n\n${sections(results)}`] : []),
  ].join('\n\n');
  return [...conversation.slice(0, -1), { role: 'user', content: [...(last?.content ?? []), text(order)] }];
}

/** The conversation, for who puts the results together. */
export function synthesisOf(
  conversation: readonly ModelMessage[],
  results: readonly (readonly [title: string, result: string])[],
  missing: readonly string[],
): readonly ModelMessage[] {
  const gaps = missing.length === 0 ? '' : `\n\nThese parts could not be done: ${missing.join('; ')}.`;
  return [
    ...conversation,
    {
      role: 'assistant',
      content: [text(`I have worked on the parts of this.\n\n${sections(results)}${gaps}`)],
    },
    { role: 'user', content: [text(TOGETHER)] },
  ];
}

/** One result as it stands in the text of the quest. */
export function section(title: string, result: string): string {
  return `## ${title}\n\n${result.trim()}`;
}

function sections(results: readonly (readonly [title: string, result: string])[]): string {
  return results.map(([title, result]) => section(title, result)).join('\n\n');
}

function text(words: string): ModelContent {
  return { type: 'text', text: words };
}
