import type { JobHandler } from '../../jobs/handler.ts';
import type { Store } from '../../ports/store.ts';
import { writesTo } from '../../ports/write-all.ts';
import { composePrompt, type PromptSource } from '../../prompts/prompt.ts';
import { createQuestHandler } from '../../runs/handler.ts';
import type { QuestOutcome, QuestPause, QuestRecord } from '../../runs/records.ts';
import type { RunContext } from '../../runs/run-context.ts';
import type { RunningQuests } from '../../runs/running.ts';
import { publishAnswer, publishThinking } from '../agents/events.ts';
import { toPersona } from '../agents/persona.ts';
import type { AgentRecord } from '../agents/records.ts';
import { CREATE_LATTICE } from '../artifacts/lattice.ts';
import { CREATE_ARTIFACT } from '../artifacts/tool.ts';
import { toConversation } from '../conversation/conversation.ts';
import { createModelSession } from '../conversation/model-session.ts';
import { openWork, type PausedWork, sealWork } from '../conversation/paused-work.ts';
import { getWaitingCalls } from '../conversation/tool-calls.ts';
import { whyEmpty } from '../conversation/turn.ts';
import { type DialogueServices, loadTurnInput, type TurnInput } from '../conversation/turn-input.ts';
import { planMessages, writeMessages } from '../sessions/session.ts';
import { startAgentExecution } from './contract.ts';
import { runLoop } from './loop.ts';
import { AGENT_EXECUTION, type ExecutionRequest, STEPS, type StepRecord } from './records.ts';
import { buildStep, createStepWriter } from './steps.ts';
import { createToolset } from './toolset.ts';

const CONCURRENCY = 20;
const PHASES = ['load', 'prompt', 'model', 'tools', 'store'];
const INTERRUPTED = 'The run was interrupted. Its steps show the completed work.';

const METHOD =
  'You work on a task autonomously, in steps. In each step, say in one sentence what you do next and why, then call tools. ' +
  'Check the results before the next step. When the task is done, return the complete result without calling a tool.';

/** Executes an agent run. */
export function createExecutionHandler(services: DialogueServices, runningQuests: RunningQuests): JobHandler {
  return createQuestHandler(services, runningQuests, {
    kind: AGENT_EXECUTION,
    operation: startAgentExecution.id,
    concurrency: CONCURRENCY,
    phases: PHASES,
    isLive: true,
    unfinished: { type: 'error', explanation: INTERRUPTED },
    alongside: (store, quest) => writeDown(services, store, quest),
    followUps: services.followUps,
    ended: (quest) => publishAnswer(services.agentEvents, quest),

    async work(run) {
      const { quest, stopwatch } = run;
      const request = quest.request as ExecutionRequest;
      stopwatch.phase('load');
      const paused = openWork(services.textBox, quest);
      if (paused !== undefined) {
        const input = await loadTurnInput(services, run, { ...request, model: paused.model }, 1);
        return answer(services, run, input, await findAgent(services, run, input), paused, paused);
      }
      const input = await loadTurnInput(services, run, request, undefined);
      const agent = await findAgent(services, run, input);
      stopwatch.phase('prompt');
      const ofRun: PromptSource = () => [
        { source: 'hardcoded', name: 'agent-execution', text: METHOD },
        ...(agent === undefined ? [] : [toPersona(agent, quest.ownerId)]),
      ];
      const prompt = await composePrompt(
        [...services.promptSources, ofRun],
        {
          userId: quest.ownerId,
          session: input.session,
          message: request.message,
          sentAt: quest.createdAt,
          promptMode: undefined,
          features: { questMaster: false, mementos: request.remembers === true, agents: false },
          systemPrompt: undefined,
        },
        input.tokenLimit,
      );
      run.update(publishThinking(services.agentEvents, input.session.id, prompt.agents));
      const { systemText, turnText } = prompt;
      return answer(services, run, input, agent, { systemText, turnText, history: input.history });
    },
  });
}

/** An agent that was deleted or hidden in the meantime adds nothing to the prompt. */
async function findAgent(
  { agentReach }: DialogueServices,
  { quest }: RunContext,
  { session }: TurnInput,
): Promise<AgentRecord | undefined> {
  const { agentId } = quest.request as ExecutionRequest;
  return agentId === undefined ? undefined : agentReach.find(quest.ownerId, agentId, session);
}

async function answer(
  services: DialogueServices,
  run: RunContext,
  input: TurnInput,
  agent: AgentRecord | undefined,
  { systemText, turnText, history }: Pick<PausedWork, 'systemText' | 'turnText' | 'history'>,
  paused?: ReturnType<typeof openWork>,
): Promise<QuestOutcome | QuestPause> {
  const { quest } = run;
  const { session, candidates, contents: attachments, lastMessage } = input;
  const request = quest.request as ExecutionRequest;
  const scope = { userId: quest.ownerId, sessionId: session.id, payer: request.payer };
  const toolset = await createToolset(
    services.toolRegistry,
    scope,
    session,
    agent,
    [...(request.approvedTools ?? []), ...(request.makesTables === true ? [CREATE_LATTICE] : [])],
    request.makesArtifacts === true ? [] : [CREATE_ARTIFACT],
  );
  const { unlock } = toolset;
  const known = new Set(toolset.offers.map(({ id }) => id));
  const unlocked = (paused?.tools ?? []).filter((id) => !known.has(id));
  const offers = [...toolset.offers, ...(unlocked.length > 0 ? await unlock(unlocked) : [])];
  const modelSession = createModelSession(services, run, {
    request,
    candidates,
    scope,
    offers,
    unlock,
    // Without `approvals`, such a call ends the run; but in the work of a consulted agent it is refused.
    waitsFor: (offer) => (toolset.needsApproval(offer) ? 'approval' : undefined),
    isResumed: paused !== undefined,
  });
  const { store, clock } = services;
  const { message } = request;
  const first = paused === undefined ? 0 : await store.collection(STEPS).count({ executionId: quest.id });
  if (paused !== undefined) await run.leaveWait();
  const steps = createStepWriter({ store, now: () => clock.now() }, run, first);
  run.planEnd((ended) => {
    const said = getAnswer(ended);
    const { expected, written } = planMessages(
      services,
      session,
      ended,
      { content: message },
      said,
      lastMessage,
    );
    const last = said === undefined ? [] : [writesTo(STEPS).insert(toLastStep(ended, steps.written(), said))];
    return { expected, written: [...last, ...written] };
  });
  const loopInput = {
    messages: toConversation({ systemText, turnText, history, message, attachments }),
    maxIterations: request.maxIterations,
    record: steps.write,
    refusal: request.approvals === true ? () => undefined : toolset.refusal,
  };
  const end = await runLoop(run, modelSession, loopInput, paused);
  if (end.outcome === 'paused') {
    const calls = getWaitingCalls(modelSession, end.turn.open);
    const work = { ...modelSession.getState(), systemText, turnText, history, turn: end.turn };
    return sealWork(services.textBox, quest.id, work, calls);
  }
  if (end.outcome === 'refused') return { type: 'error', explanation: end.reason };
  if (end.finishReason !== undefined) run.update({ stopReason: end.finishReason });
  const explanation = whyEmpty(end.finishReason, end.text);
  if (explanation !== undefined) return { type: 'error', explanation };
  run.update({ answer: end.text });
  return { type: 'message' };
}

/** Builds the answer: the last step and the session's message, written together with the end of the run. */
async function writeDown(services: DialogueServices, store: Store, quest: QuestRecord): Promise<void> {
  const answer = getAnswer(quest);
  if (answer !== undefined) {
    const steps = store.collection(STEPS);
    const number = await steps.count({ executionId: quest.id });
    await steps.insert(toLastStep(quest, number, answer));
  }
  const { message } = quest.request as ExecutionRequest;
  await writeMessages(services, store, quest, { content: message }, answer);
}

function getAnswer({ answer, status, type }: QuestRecord): string | undefined {
  return status === 'done' && type === 'message' ? answer : undefined;
}

function toLastStep(quest: QuestRecord, number: number, content: string): StepRecord {
  return buildStep(quest, number, { type: 'final_answer', content, iteration: quest.rounds ?? 1 });
}
