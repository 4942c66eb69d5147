import { listen, runTurn } from '../chat/turn.ts';
import type { DialogueServices } from '../dialogues/scene.ts';
import type { Talk } from '../dialogues/talk.ts';
import { isApiError } from '../errors.ts';
import type { ModelMessage } from '../ports/models.ts';
import { isStorageUnavailable } from '../ports/store.ts';
import type { Desk } from '../quests/desk.ts';
import type { PaidCall } from '../quests/model-call.ts';
import { outcomeOf } from '../quests/outcomes.ts';
import type { QuestOutcome } from '../quests/records.ts';
import { createBoard } from './board.ts';
import { type Plan, type PlannedTask, planIn } from './plan.ts';
import { planningOf, section, synthesisOf, taskOf } from './prompts.ts';
import { runPlan, type TaskOutcome } from './schedule.ts';

/** Output tokens of a plan. */
const PLAN_TOKENS = 2000;

/** What the quest master works with. */
interface MasterParts {
  readonly services: Pick<DialogueServices, 'onError'>;
  readonly desk: Desk;
  readonly talk: Talk;
  readonly conversation: readonly ModelMessage[];
  /** Calls of tools in the whole turn. */
  readonly maxToolCalls: number;
}

type MasterEnd = { readonly outcome: 'answered' } | { readonly outcome: 'failed'; readonly as: QuestOutcome };

/**
 * Divides what was asked into tasks, has them done and puts the results together. Results stand in the quest's text as
 * they come, so whatever breaks the work off, what was done by then is kept; the whole answer stands apart.
 * @returns undefined when there is nothing to divide: the turn is an ordinary one.
 */
export async function masterQuest(parts: MasterParts): Promise<MasterEnd | undefined> {
  const plan = await planFor(parts);
  if (plan === undefined) return undefined;
  const { desk, talk, conversation } = parts;
  const { journal } = desk;
  const board = createBoard(journal, plan);
  const titles = new Map(plan.map(({ id, title }) => [id, title]));
  const named = (results: ReadonlyMap<string, string>, ids: Iterable<string>) =>
    [...ids].map((id) => [titles.get(id) ?? id, results.get(id) ?? ''] as const);
  // Whoever looks sees the plan before the work begins, and it is written down that there is one.
  await journal.save(desk.progress());
  desk.signal.throwIfAborted();

  let firstFailure: QuestOutcome | undefined;
  const results = await runPlan(plan, {
    changed: board.changed,
    async run(task, done) {
      const asked = taskOf(conversation, task, named(done, task.dependsOn));
      const outcome = await workOn(parts, plan, task, asked, (so) => board.changed(task, 'running', so));
      if (outcome.state === 'done') say(desk, section(task.title, outcome.result));
      if (outcome.state === 'failed') firstFailure ??= { type: 'error', explanation: outcome.result };
      return outcome;
    },
  });
  if (results.size === 0) {
    return { outcome: 'failed', as: firstFailure ?? outcomeOf(new Error('no task was done')) };
  }

  const inOrder = plan.map(({ id }) => id);
  const missing = inOrder.filter((id) => !results.has(id)).map((id) => titles.get(id) ?? id);
  const found = named(
    results,
    inOrder.filter((id) => results.has(id)),
  );
  let answer = '';
  const answering = await talk.ask(synthesisOf(conversation, found, missing), []);
  await listen(
    answering,
    {
      said(more) {
        if (answer === '') say(desk, more);
        else journal.append(more);
        answer += more;
      },
      signal: desk.signal,
    },
    false,
  );
  // Without a last word, the results themselves are the answer.
  if (answer !== '') desk.tell({ answer });
  return { outcome: 'answered' };
}

/** Asks for a plan. Without credit for that, or with an answer that is none, there is no plan. */
async function planFor({ desk, talk, conversation }: MasterParts): Promise<Plan | undefined> {
  let said = '';
  const messages = planningOf(conversation);
  const answering = await talk.ask(messages, [], PLAN_TOKENS).catch((error: unknown) => {
    if (isOutOfCredit(error)) return undefined;
    throw error;
  });
  if (answering === undefined) return undefined;
  const hear = (more: string): void => {
    said += more;
  };
  await listen(answering, { said: hear, signal: desk.signal }, false);
  await desk.stepEnded(answering.money, true);
  return planIn(said);
}

async function workOn(
  { services, desk, talk, maxToolCalls }: MasterParts,
  plan: Plan,
  task: PlannedTask,
  messages: readonly ModelMessage[],
  soFar: (text: string) => void,
): Promise<TaskOutcome> {
  const { signal } = desk;
  let text = '';
  let call: PaidCall | undefined;
  try {
    await runTurn({
      messages,
      tools: () => talk.tools,
      maxToolCalls: shareOf(maxToolCalls, plan, task),
      signal,
      said(more) {
        text += more;
        soFar(text);
      },
      async ask(conversation, tools) {
        const answering = await talk.ask(conversation, tools);
        call = answering.money;
        return answering;
      },
      roundEnded: talk.roundEnded,
      runTool: (name, input, place) => talk.runTool(name, input, `${task.id}:${place}`),
    });
    if (call !== undefined) await desk.stepEnded(call, true);
    return text.trim() === ''
      ? { state: 'failed', result: 'Nothing came out of it.' }
      : { state: 'done', result: text };
  } catch (error) {
    signal.throwIfAborted();
    if (isOutOfCredit(error) && call === undefined) return { state: 'postponed', reason: error };
    if (isOutOfCredit(error) || isStorageUnavailable(error)) throw error;
    if (call !== undefined) await desk.stepEnded(call, false);
    if (!isApiError(error)) {
      services.onError({ operation: 'questMaster', requestId: desk.quest.request.requestId, error });
    }
    return { state: 'failed', result: outcomeOf(error).explanation ?? '' };
  }
}

/** Every task its part of the calls; the first ones what does not divide. */
function shareOf(all: number, plan: Plan, task: PlannedTask): number {
  const rest = plan.indexOf(task) < all % plan.length ? 1 : 0;
  return Math.floor(all / plan.length) + rest;
}

function say({ journal }: Desk, text: string): void {
  journal.append(journal.text === '' ? text : `\n\n${text}`);
}

function isOutOfCredit(error: unknown): boolean {
  return isApiError(error) && (error.code === 'insufficient_credits' || error.code === 'spend_cap_exceeded');
}
