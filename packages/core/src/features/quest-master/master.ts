import type { ModelMessage } from '../../ports/models.ts';
import { isStorageUnavailable } from '../../ports/store.ts';
import type { PaidCall } from '../../runs/model-call.ts';
import { toOutcome } from '../../runs/outcomes.ts';
import type { QuestOutcome } from '../../runs/records.ts';
import type { RunContext } from '../../runs/run-context.ts';
import { isApiError, isCreditCode } from '../../shared/errors.ts';
import { type ModelSession, readRound, runTurn, withoutWaiting } from '../conversation/turn.ts';
import type { DialogueServices } from '../conversation/turn-input.ts';
import { type Plan, type PlannedTask, planIn } from './plan.ts';
import { createPlanProgress } from './plan-progress.ts';
import { buildPlanning, buildSynthesis, getTask, section } from './prompts.ts';
import { runPlan, type TaskOutcome } from './schedule.ts';

/** Output tokens of a plan, reasoning excluded. */
const PLAN_TOKENS = 2000;

/** Dependencies of the quest master. */
interface MasterParts {
  readonly services: Pick<DialogueServices, 'onError'>;
  readonly run: RunContext;
  readonly modelSession: ModelSession;
  readonly conversation: readonly ModelMessage[];
  /** Maximum tool calls in the whole turn. */
  readonly maxToolCalls: number;
}

/**
 * Divides a request into tasks, runs them and combines the results. Results are added to the quest's text as they
 * arrive, so an interruption keeps what was done; the final answer is separate.
 * @returns undefined when the request needs no plan: the turn is an ordinary one.
 */
export async function masterQuest(parts: MasterParts): Promise<QuestOutcome | undefined> {
  const plan = await planFor(parts);
  if (plan === undefined) return undefined;
  const { run, modelSession, conversation } = parts;
  const { writer } = run;
  const planProgress = createPlanProgress(writer, plan);
  const titles = new Map(plan.map(({ id, title }) => [id, title]));
  const named = (results: ReadonlyMap<string, string>, ids: Iterable<string>) =>
    [...ids].map((id) => [titles.get(id) ?? id, results.get(id) ?? ''] as const);
  // Clients see the plan before the work begins, and its existence is persisted.
  await writer.save(run.progress());
  run.signal.throwIfAborted();

  let firstFailure: QuestOutcome | undefined;
  const results = await runPlan(plan, {
    changed: planProgress.changed,
    async run(task, done) {
      const asked = getTask(conversation, task, named(done, task.dependsOn));
      const outcome = await workOn(parts, plan, task, asked, (so) =>
        planProgress.changed(task, 'running', so),
      );
      if (outcome.state === 'done') appendParagraph(run, section(task.title, outcome.result));
      if (outcome.state === 'failed') firstFailure ??= { type: 'error', explanation: outcome.result };
      return outcome;
    },
  });
  if (results.size === 0) {
    return firstFailure ?? toOutcome(new Error('no task was done'));
  }

  const inOrder = plan.map(({ id }) => id);
  const missing = inOrder.filter((id) => !results.has(id)).map((id) => titles.get(id) ?? id);
  const found = named(
    results,
    inOrder.filter((id) => results.has(id)),
  );
  let answer = '';
  const answering = await modelSession.ask(buildSynthesis(conversation, found, missing), []);
  await readRound(
    answering,
    run.signal,
    (more) => {
      if (answer === '') appendParagraph(run, more);
      else writer.append(more);
      answer += more;
    },
    { live: run.live.startRound(1) },
  );
  const stopReason = answering.money.meter.finishReason;
  if (stopReason !== undefined) run.update({ stopReason });
  // Without a final answer, the results are the answer.
  if (answer !== '') run.update({ answer });
  return { type: 'message' };
}

/** Calls the model for a plan. Without credit for that, or with an invalid answer, there is no plan. */
async function planFor({ run, modelSession, conversation }: MasterParts): Promise<Plan | undefined> {
  const messages = buildPlanning(conversation);
  const answering = await modelSession
    .ask(messages, [], { taskTokens: PLAN_TOKENS })
    .catch((error: unknown) => {
      if (isOutOfCredit(error)) return undefined;
      throw error;
    });
  if (answering === undefined) return undefined;
  const { text } = await readRound(answering, run.signal, () => undefined);
  await run.endStep(answering.money, 'finished');
  return planIn(text);
}

async function workOn(
  { services, run, modelSession, maxToolCalls }: MasterParts,
  plan: Plan,
  task: PlannedTask,
  messages: readonly ModelMessage[],
  soFar: (text: string) => void,
): Promise<TaskOutcome> {
  const { signal } = run;
  let text = '';
  let call: PaidCall | undefined;
  try {
    await runTurn(
      {
        ...withoutWaiting(modelSession),
        async ask(conversation, tools, options) {
          const answering = await modelSession.ask(conversation, tools, options);
          call = answering.money;
          return answering;
        },
      },
      {
        messages,
        maxToolCalls: getShare(maxToolCalls, plan, task),
        place: task.id,
        onText(more) {
          text += more;
          soFar(text);
        },
      },
    );
    if (call !== undefined) await run.endStep(call, 'finished');
    return text.trim() === ''
      ? { state: 'failed', result: 'The task returned no text.' }
      : { state: 'done', result: text };
  } catch (error) {
    signal.throwIfAborted();
    if (isOutOfCredit(error) && call === undefined) return { state: 'postponed', reason: error };
    if (isOutOfCredit(error) || isStorageUnavailable(error)) throw error;
    if (call !== undefined) await run.endStep(call, 'broken');
    if (!isApiError(error)) {
      services.onError({ operation: 'questMaster', requestId: run.quest.request.requestId, error });
    }
    return { state: 'failed', result: toOutcome(error).explanation ?? '' };
  }
}

/** Distributes the tool calls among the tasks; the first ones get the remainder. */
function getShare(all: number, plan: Plan, task: PlannedTask): number {
  const rest = plan.indexOf(task) < all % plan.length ? 1 : 0;
  return Math.floor(all / plan.length) + rest;
}

function appendParagraph({ writer }: RunContext, text: string): void {
  writer.append(writer.text() === '' ? text : `\n\n${text}`);
}

function isOutOfCredit(error: unknown): boolean {
  return isApiError(error) && isCreditCode(error.code);
}
