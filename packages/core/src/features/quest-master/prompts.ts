import type { ModelContent, ModelMessage } from '../../ports/models.ts';
import type { PlannedTask } from './plan.ts';

const PLANNER =
  'You are a planner. Decide whether the last message of the conversation needs a plan. Do not answer the message.\n\n' +
  '- If the message is a single task, or can be answered quickly, return {"tasks": []}.\n' +
  '- Otherwise divide it into two to eight tasks that together cover the whole message.\n' +
  '- Each task is done by a worker who sees the conversation and the results of the tasks it depends on.\n' +
  '- Independent tasks run in parallel. Add a dependency only if a task needs the result of another task.\n' +
  '- Do not add a task that combines the results. That step runs automatically.\n\n' +
  'Return only JSON: {"tasks": [{"id": "a", "title": "a few words", "instructions": "what to do and what to return", ' +
  '"dependsOn": []}]}';

const SYNTHESIS =
  'Use these results to write the complete answer to my message. Include everything important. Do not repeat yourself. ' +
  'Do not mention the tasks or how the work was divided. If a part is missing, say what is missing.';

/** Builds the request for a plan. */
export function buildPlanning(conversation: readonly ModelMessage[]): readonly ModelMessage[] {
  return [
    { role: 'system', content: [text(PLANNER)] },
    ...conversation.filter(({ role }) => role !== 'system'),
  ];
}

/** Builds the request for one task. */
export function getTask(
  conversation: readonly ModelMessage[],
  task: PlannedTask,
  results: readonly (readonly [title: string, result: string])[],
): readonly ModelMessage[] {
  const last = conversation.at(-1);
  const instruction = [
    'Do not answer the whole message yet. Do only the following task, and return only its result:',
    `${task.title}\n${task.instructions}`,
    ...(results.length > 0 ? [`Results of the tasks it depends on:\n\n${sections(results)}`] : []),
  ].join('\n\n');
  return [
    ...conversation.slice(0, -1),
    { role: 'user', content: [...(last?.content ?? []), text(instruction)] },
  ];
}

/** Builds the request for the final answer. */
export function buildSynthesis(
  conversation: readonly ModelMessage[],
  results: readonly (readonly [title: string, result: string])[],
  missing: readonly string[],
): readonly ModelMessage[] {
  const gaps = missing.length === 0 ? '' : `\n\nThese tasks failed: ${missing.join('; ')}.`;
  return [
    ...conversation,
    {
      role: 'assistant',
      content: [text(`I have completed the tasks.\n\n${sections(results)}${gaps}`)],
    },
    { role: 'user', content: [text(SYNTHESIS)] },
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
