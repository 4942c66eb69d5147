import type { Payer } from '../../contract/call.ts';
import type { JobHandler } from '../../jobs/handler.ts';
import type { SecretBox } from '../../models/secret-box.ts';
import type { ModelMessage } from '../../ports/models.ts';
import type { Json } from '../../ports/store.ts';
import { type ChatFeatures, composePrompt, type SystemPrompt } from '../../prompts/prompt.ts';
import { keepPrompt, openSystemPrompt } from '../../prompts/sealed-texts.ts';
import { createQuestHandler } from '../../runs/handler.ts';
import type { QuestOutcome } from '../../runs/records.ts';
import type { RunContext } from '../../runs/run-context.ts';
import type { RunningQuests } from '../../runs/running.ts';
import { ApiError } from '../../shared/errors.ts';
import type { ToolOffer, ToolRegistry, ToolScope } from '../../tools/registry.ts';
import { publishAnswer, publishThinking } from '../agents/events.ts';
import { permits } from '../agents/options.ts';
import { toConversation } from '../conversation/conversation.ts';
import { createModelSession } from '../conversation/model-session.ts';
import { type ModelSession, runTurn, whyEmpty } from '../conversation/turn.ts';
import { type DialogueServices, loadTurnInput, type TurnInput } from '../conversation/turn-input.ts';
import { masterQuest } from '../quest-master/master.ts';
import { writeMessages } from '../sessions/session.ts';
import { sendChatMessage } from './contract.ts';
import type { ChatRequest } from './request.ts';

export const CHAT = 'chat';

const CONCURRENCY = 50;
const DEFAULT_TOOL_CALLS = 10;
const PHASES = ['load', 'prompt', 'model', 'tools', 'store'];

/** Executes a chat turn. */
export function createTurnHandler(services: DialogueServices, runningQuests: RunningQuests): JobHandler {
  return createQuestHandler(services, runningQuests, {
    kind: CHAT,
    operation: sendChatMessage.id,
    concurrency: CONCURRENCY,
    phases: PHASES,
    isLive: true,
    followUps: services.followUps,
    ended: (quest) => publishAnswer(services.agentEvents, quest),

    async work(run, payload) {
      const request = run.quest.request as ChatRequest;
      run.stopwatch.phase('load');
      const input = await loadTurnInput(services, run, request, request.historyCount);
      const systemPrompt = getSystemPrompt(services.textBox, run.quest.id, request, payload);
      run.stopwatch.phase('prompt');
      const prompt = await buildPrompt(services, run, input, systemPrompt);
      const { history, contents: attachments } = input;
      const conversation = toConversation({ ...prompt, history, message: request.message, attachments });
      return answer(services, run, input, conversation);
    },

    async alongside(store, quest) {
      const { message } = quest.request as ChatRequest;
      await writeMessages(services, store, quest, message, quest.answer ?? quest.text);
    },
  });
}

async function buildPrompt(
  services: DialogueServices,
  run: RunContext,
  { session, tokenLimit }: TurnInput,
  systemPrompt: string | undefined,
): Promise<SystemPrompt> {
  const { quest } = run;
  const { message, promptMode, features, showsPrompt, payer, requestId } = quest.request as ChatRequest;
  const prompt = await composePrompt(
    services.promptSources,
    {
      userId: quest.ownerId,
      session,
      message,
      sentAt: quest.createdAt,
      promptMode,
      features,
      systemPrompt,
      turn: { id: quest.id, payer, requestId },
    },
    tokenLimit,
  );
  run.update({
    ...publishThinking(services.agentEvents, session.id, prompt.agents),
    ...keepPrompt(services.textBox, quest.id, showsPrompt, prompt),
  });
  if (prompt.citations.length > 0) {
    run.writer.show({ type: 'citations', payload: prompt.citations.map((one) => ({ ...one })) });
  }
  return prompt;
}

async function answer(
  services: DialogueServices,
  run: RunContext,
  input: TurnInput,
  conversation: readonly ModelMessage[],
): Promise<QuestOutcome> {
  const request = run.quest.request as ChatRequest;
  const modelSession = await openSession(services, run, input);
  const maxToolCalls = request.maxToolCalls ?? DEFAULT_TOOL_CALLS;
  if (request.features?.questMaster === true) {
    const outcome = await masterQuest({ services, run, modelSession, conversation, maxToolCalls });
    if (outcome !== undefined) return outcome;
  }
  const { finishReason, lastText } = await runTurn(modelSession, {
    messages: conversation,
    maxToolCalls,
    onText: run.writer.append,
    startRound: run.live.startRound,
  });
  if (finishReason !== undefined) run.update({ stopReason: finishReason });
  const explanation = whyEmpty(finishReason, lastText);
  return explanation === undefined ? { type: 'message' } : { type: 'error', explanation };
}

/** Opens the session with the model and the tools of the turn. */
async function openSession(
  services: DialogueServices,
  run: RunContext,
  { session, candidates }: TurnInput,
): Promise<ModelSession> {
  const { quest } = run;
  const request = quest.request as ChatRequest;
  const scope = getToolScope(quest.ownerId, quest.sessionId, request.payer, request.features);
  const offers = await getOffers(services.toolRegistry, scope, request.tools ?? []);
  return createModelSession(services, run, {
    request,
    candidates,
    scope,
    offers,
    trimmed: request.features?.questMaster === true ? 'every-round' : 'first-round',
    unlock: async (ids) => {
      const { toolLimits } = request;
      const isLeft = (id: string) => toolLimits === undefined || permits(toolLimits, id);
      const allowed = ids.filter((id) => session.disabledTools?.includes(id) !== true && isLeft(id));
      return (await getOffers(services.toolRegistry, scope, allowed)).filter(({ gated }) => gated !== true);
    },
  });
}

/** The user and session that the tools of a turn act for. */
export function getToolScope(
  userId: string,
  sessionId: string,
  payer: Payer,
  features: ChatFeatures | undefined,
): ToolScope {
  return { userId, sessionId, payer, ...(features?.agents === true && { agents: true }) };
}

async function getOffers(
  registry: ToolRegistry,
  scope: ToolScope,
  ids: readonly string[],
): Promise<readonly ToolOffer[]> {
  const offers = await Promise.all(ids.map((id) => registry.find(id, scope)));
  return offers.filter((offer) => offer !== undefined);
}

function getSystemPrompt(
  box: SecretBox,
  questId: string,
  { hasSystemPrompt }: ChatRequest,
  payload: Readonly<Record<string, Json | undefined>>,
): string | undefined {
  const systemPrompt = openSystemPrompt(box, questId, payload);
  // The job was lost and recreated, or encrypted under another key: the turn must not run without its system prompt.
  if (systemPrompt === undefined && hasSystemPrompt === true)
    throw new ApiError(500, 'This turn could not be resumed. Please send it again.');
  return systemPrompt;
}
