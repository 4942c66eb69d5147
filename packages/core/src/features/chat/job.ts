import type { Payer } from '../../contract/call.ts';
import type { JobHandler } from '../../jobs/handler.ts';
import type { SecretBox } from '../../models/secret-box.ts';
import type { ToolSchema } from '../../ports/models.ts';
import type { Json } from '../../ports/store.ts';
import { type ChatFeatures, composePrompt, type SystemPrompt } from '../../prompts/prompt.ts';
import { keepPrompt, openSystemPrompt } from '../../prompts/sealed-texts.ts';
import { createQuestHandler } from '../../runs/handler.ts';
import type { QuestOutcome, QuestPause } from '../../runs/records.ts';
import type { RunContext } from '../../runs/run-context.ts';
import type { RunningQuests } from '../../runs/running.ts';
import { ApiError } from '../../shared/errors.ts';
import type { ToolOffer, ToolRegistry, ToolScope } from '../../tools/registry.ts';
import { publishAnswer, publishThinking } from '../agents/events.ts';
import { permits } from '../agents/options.ts';
import { toConversation } from '../conversation/conversation.ts';
import { createModelSession } from '../conversation/model-session.ts';
import { openWork, type PausedWork, sealWork } from '../conversation/paused-work.ts';
import { getWaitingCalls } from '../conversation/tool-calls.ts';
import { type ModelSession, runTurn, whyEmpty } from '../conversation/turn.ts';
import {
  type DialogueServices,
  loadTurnInput,
  readKnownInput,
  type TurnInput,
} from '../conversation/turn-input.ts';
import { masterQuest } from '../quest-master/master.ts';
import { removeMessages } from '../sessions/replaced.ts';
import { planMessages, writeMessages } from '../sessions/session.ts';
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
    readFirst: readKnownInput,
    ended: (quest) => publishAnswer(services.agentEvents, quest),

    async work(run, payload) {
      const request = run.quest.request as ChatRequest;
      run.stopwatch.phase('load');
      const paused = openWork(services.textBox, run.quest);
      if (paused !== undefined) return goOn(services, run, paused);
      const input = await loadTurnInput(services, run, request, request.historyCount);
      planTurnEnd(services, run, input);
      const systemPrompt = getSystemPrompt(services.textBox, run.quest.id, request, payload);
      run.stopwatch.phase('prompt');
      const prompt = await buildPrompt(services, run, input, systemPrompt);
      return answer(services, run, input, { ...prompt, history: input.history });
    },

    async alongside(store, quest) {
      const { message: content, pageId, fileIds, replaces, isRepeated } = quest.request as ChatRequest;
      const answer = quest.answer ?? quest.text;
      // The earlier answer stays where the new one has no text.
      if (isRepeated === true && !answer) return;
      if (replaces !== undefined) await removeMessages(store, quest.sessionId, replaces);
      await writeMessages(services, store, quest, { content, pageId, fileIds }, answer);
    },
  });
}

/** A turn that replaces messages needs a transaction, and so does a repeated one: it always replaces its messages. */
function planTurnEnd(services: DialogueServices, run: RunContext, { session, lastMessage }: TurnInput): void {
  run.planEnd((quest) => {
    const { message: content, pageId, fileIds, replaces } = quest.request as ChatRequest;
    if (replaces !== undefined) return undefined;
    const said = { content, pageId, fileIds };
    return planMessages(services, session, quest, said, quest.answer ?? quest.text, lastMessage);
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

/** Continues a turn whose calls are decided, with the conversation as it was. */
async function goOn(
  services: DialogueServices,
  run: RunContext,
  paused: NonNullable<ReturnType<typeof openWork>>,
): Promise<QuestOutcome | QuestPause> {
  const request = run.quest.request as ChatRequest;
  const input = await loadTurnInput(services, run, { ...request, model: paused.model }, 1);
  planTurnEnd(services, run, input);
  return answer(services, run, input, paused, paused);
}

async function answer(
  services: DialogueServices,
  run: RunContext,
  input: TurnInput,
  { systemText, turnText, history }: Pick<PausedWork, 'systemText' | 'turnText' | 'history'>,
  paused?: ReturnType<typeof openWork>,
): Promise<QuestOutcome | QuestPause> {
  const request = run.quest.request as ChatRequest;
  const { message } = request;
  const conversation = toConversation({
    systemText,
    turnText,
    history,
    message,
    attachments: input.contents,
  });
  const modelSession = await openSession(services, run, input, paused);
  const maxToolCalls = request.maxToolCalls ?? DEFAULT_TOOL_CALLS;
  if (paused !== undefined) await run.leaveWait();
  else if (request.features?.questMaster === true) {
    const outcome = await masterQuest({ services, run, modelSession, conversation, maxToolCalls });
    if (outcome !== undefined) return outcome;
  }
  const end = await runTurn(
    modelSession,
    {
      messages: conversation,
      maxToolCalls,
      onText: run.writer.append,
      startRound: run.live.startRound,
      emit: run.live.emit,
    },
    paused,
  );
  if (end.paused !== undefined) {
    const calls = getWaitingCalls(modelSession, end.paused.open);
    const work = { ...modelSession.getState(), systemText, turnText, history, turn: end.paused };
    return sealWork(services.textBox, run.quest.id, work, calls);
  }
  const { finishReason, lastText } = end;
  if (finishReason !== undefined) run.update({ stopReason: finishReason });
  const explanation = whyEmpty(finishReason, lastText);
  return explanation === undefined ? { type: 'message' } : { type: 'error', explanation };
}

/** Opens the session with the model and the tools of the turn. */
async function openSession(
  services: DialogueServices,
  run: RunContext,
  { session, candidates }: TurnInput,
  paused: PausedWork | undefined,
): Promise<ModelSession> {
  const { quest } = run;
  const request = quest.request as ChatRequest;
  const scope = getToolScope(quest.ownerId, quest.sessionId, request.payer, request.features);
  const { approvals = false } = request;
  const ofClient = (request.clientTools ?? []).map(toClientOffer);
  const clientIds = new Set(ofClient.map(({ id }) => id));
  const ofServer = (paused?.tools ?? request.tools ?? []).filter((id) => !clientIds.has(id));
  const offers = [...(await getOffers(services.toolRegistry, scope, ofServer)), ...ofClient];
  return createModelSession(services, run, {
    request,
    candidates,
    scope,
    offers,
    waitsFor(offer) {
      if (clientIds.has(offer.id)) return 'answer';
      return approvals && offer.gated === true ? 'approval' : undefined;
    },
    isResumed: paused !== undefined,
    unlock: async (ids) => {
      const { toolLimits } = request;
      const isLeft = (id: string) => toolLimits === undefined || permits(toolLimits, id);
      const allowed = ids.filter((id) => session.disabledTools?.includes(id) !== true && isLeft(id));
      const more = await getOffers(services.toolRegistry, scope, allowed);
      return approvals ? more : more.filter(({ gated }) => gated !== true);
    },
  });
}

function toClientOffer(schema: ToolSchema): ToolOffer {
  return { id: schema.name, schema, offered: 'requested' };
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
