import { agentsAnswered, agentsThink } from '../agents/events.ts';
import { personaOf } from '../agents/persona.ts';
import { AGENTS, type AgentRecord, canUseAgent } from '../agents/records.ts';
import { CREATE_LATTICE } from '../artifacts/lattice.ts';
import { CREATE_ARTIFACT } from '../artifacts/tool.ts';
import { inputLimit, toConversation } from '../chat/conversation.ts';
import { composePrompt, type PromptSource } from '../chat/prompt.ts';
import { type DialogueServices, openScene, type Scene } from '../dialogues/scene.ts';
import { createTalk } from '../dialogues/talk.ts';
import type { JobHandler } from '../engine/worker.ts';
import type { Store } from '../ports/store.ts';
import type { Desk } from '../quests/desk.ts';
import { createQuestHandler } from '../quests/handler.ts';
import type { QuestOutcome, QuestRecord } from '../quests/records.ts';
import type { RunningQuests } from '../quests/running.ts';
import { writeMessages } from '../quests/session.ts';
import { startAgentExecution } from './contract.ts';
import { runLoop } from './loop.ts';
import { AGENT_EXECUTION, type ExecutionRequest, STEPS } from './records.ts';
import { createStepWriter, insertStep } from './steps.ts';
import { toolsetOf } from './toolset.ts';

const CONCURRENCY = 20;
const HISTORY = 10;
const PHASES = ['load', 'prompt', 'model', 'tools', 'store'];
const INTERRUPTED = 'The run was interrupted before its end. What was done stands in its steps.';
const BLOCKED = "The model provider's safety rules blocked the answer.";

const METHOD =
  'You work on a task by yourself, in steps. In each step say in a sentence what you do next and why, then use tools; look at ' +
  'what came out before you go on. When the task is done, give the whole result without using a tool.';

/** Does what a run was asked for. */
export function createExecutionHandler(services: DialogueServices, runningQuests: RunningQuests): JobHandler {
  return createQuestHandler(services, runningQuests, {
    kind: AGENT_EXECUTION,
    operation: startAgentExecution.id,
    concurrency: CONCURRENCY,
    phases: PHASES,
    unfinished: { type: 'error', explanation: INTERRUPTED },
    alongside: (store, quest) => writeDown(services, store, quest),
    followUps: services.followUps,
    ended: (quest) => agentsAnswered(services.agentEvents, quest),

    async work(desk) {
      const { quest, watch } = desk;
      const request = quest.request as ExecutionRequest;
      watch.phase('load');
      const scene = await openScene(services, desk, request, HISTORY);
      const agent = await agentOf(services.store, quest.ownerId, request.agentId);
      watch.phase('prompt');
      const ofRun: PromptSource = () => [
        { source: 'hardcoded', name: 'agent-execution', text: METHOD },
        ...(agent === undefined ? [] : [personaOf(agent)]),
      ];
      const prompt = await composePrompt(
        [...services.promptSources, ofRun],
        {
          userId: quest.ownerId,
          session: scene.session,
          message: request.message,
          askedAt: quest.createdAt,
          promptMode: undefined,
          features: { questMaster: false, mementos: request.remembers === true, agents: false },
          systemPrompt: undefined,
        },
        inputLimit(scene.candidates[0].info, request.maxTokens),
      );
      desk.tell(agentsThink(services.agentEvents, scene.session.id, prompt.agents));
      return run(services, desk, scene, agent, prompt.text);
    },
  });
}

async function run(
  services: DialogueServices,
  desk: Desk,
  { session, candidates, history, contents }: Scene,
  agent: AgentRecord | undefined,
  system: string,
): Promise<QuestOutcome> {
  const { quest, journal, signal } = desk;
  const request = quest.request as ExecutionRequest;
  const scope = { userId: quest.ownerId, sessionId: session.id, payer: request.payer };
  const toolset = await toolsetOf(
    services.toolRegistry,
    scope,
    session,
    agent,
    [...(request.approvedTools ?? []), ...(request.makesTables === true ? [CREATE_LATTICE] : [])],
    request.makesArtifacts === true ? [] : [CREATE_ARTIFACT],
  );
  const { offers, unlock } = toolset;
  const talk = createTalk(services, desk, {
    request,
    candidates,
    scope,
    offers,
    unlock,
    trimmed: 'every-round',
  });
  const end = await runLoop({
    messages: toConversation(system, history, request.message, contents),
    tools: () => talk.tools,
    maxIterations: request.maxIterations,
    signal,
    said: (text) => journal.append(text),
    record: createStepWriter({ store: services.store, now: () => services.clock.now() }, desk),
    refusal: toolset.refusal,
    ask(messages, tools, iteration) {
      desk.tell({ rounds: iteration });
      return talk.ask(messages, tools);
    },
    roundEnded: talk.roundEnded,
    runTool: (name, input, iteration, place) => talk.runTool(name, input, `${iteration}:${place}`),
  });
  if (end.outcome === 'refused') return { type: 'error', explanation: end.reason };
  if (end.finishReason === 'content_filter' && end.text === '') {
    return { type: 'error', explanation: BLOCKED };
  }
  desk.tell({ answer: end.text });
  return { type: 'message' };
}

/** One that was deleted in the meantime lends its manner no more. */
async function agentOf(
  store: Store,
  userId: string,
  agentId: string | undefined,
): Promise<AgentRecord | undefined> {
  return agentId === undefined ? undefined : store.collection(AGENTS).get(agentId, canUseAgent(userId));
}

/** The answer is the last step and part of the session, when the run ends and with it. */
async function writeDown(services: DialogueServices, store: Store, quest: QuestRecord): Promise<void> {
  const { answer, rounds = 1, status } = quest;
  const isAnswered = status === 'done' && quest.type === 'message' && answer !== undefined;
  if (isAnswered) {
    const number = await store.collection(STEPS).count({ executionId: quest.id });
    await insertStep(store, quest, number, { type: 'final_answer', content: answer, iteration: rounds });
  }
  const { message } = quest.request as ExecutionRequest;
  await writeMessages(services, store, quest, message, isAnswered ? answer : undefined);
}
