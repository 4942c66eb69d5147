import { agentsAnswered, agentsThink } from '../agents/events.ts';
import { permits } from '../agents/terms.ts';
import { type DialogueServices, openScene, type Scene } from '../dialogues/scene.ts';
import { createTalk } from '../dialogues/talk.ts';
import type { JobHandler } from '../engine/worker.ts';
import { ApiError } from '../errors.ts';
import type { ModelMessage } from '../ports/models.ts';
import type { Json } from '../ports/store.ts';
import { masterQuest } from '../quest-master/master.ts';
import type { Desk } from '../quests/desk.ts';
import { createQuestHandler } from '../quests/handler.ts';
import type { QuestOutcome } from '../quests/records.ts';
import type { RunningQuests } from '../quests/running.ts';
import { writeMessages } from '../quests/session.ts';
import type { ToolOffer, ToolRegistry, ToolScope } from '../tools/registry.ts';
import { sendChatMessage } from './contract.ts';
import { inputLimit, toConversation } from './conversation.ts';
import { composePrompt } from './prompt.ts';
import type { ChatRequest } from './request.ts';
import { scopeOf } from './tools.ts';
import { runTurn } from './turn.ts';

export const CHAT = 'chat';

const CONCURRENCY = 50;
const DEFAULT_TOOL_CALLS = 10;
const PHASES = ['load', 'prompt', 'model', 'tools', 'store'];
const BLOCKED = "The model provider's safety rules blocked the answer.";

/** Answers what was said in a session. */
export function createTurnHandler(services: DialogueServices, runningQuests: RunningQuests): JobHandler {
  return createQuestHandler(services, runningQuests, {
    kind: CHAT,
    operation: sendChatMessage.id,
    concurrency: CONCURRENCY,
    phases: PHASES,
    followUps: services.followUps,
    ended: (quest) => agentsAnswered(services.agentEvents, quest),

    async work(desk, payload) {
      const { quest, watch } = desk;
      const request = quest.request as ChatRequest;
      watch.phase('load');
      const scene = await openScene(services, desk, request, request.historyCount);
      const { session, candidates, history, contents } = scene;

      watch.phase('prompt');
      const prompt = await composePrompt(
        services.promptSources,
        {
          userId: quest.ownerId,
          session,
          message: request.message,
          askedAt: quest.createdAt,
          promptMode: request.promptMode,
          features: request.features,
          systemPrompt: systemPromptOf(request, payload),
          turn: { id: quest.id, payer: request.payer, requestId: request.requestId },
        },
        inputLimit(candidates[0].info, request.maxTokens),
      );
      desk.tell(agentsThink(services.agentEvents, session.id, prompt.agents));
      if (prompt.citations.length > 0) {
        desk.journal.show({ type: 'citations', payload: prompt.citations.map((one) => ({ ...one })) });
      }
      const conversation = toConversation(prompt.text, history, request.message, contents);
      return answer(services, desk, scene, conversation);
    },

    async alongside(store, quest) {
      const { message } = quest.request as ChatRequest;
      await writeMessages(services, store, quest, message, quest.answer ?? quest.text);
    },
  });
}

async function answer(
  services: DialogueServices,
  desk: Desk,
  { session, candidates }: Scene,
  conversation: readonly ModelMessage[],
): Promise<QuestOutcome> {
  const { quest, journal, signal } = desk;
  const request = quest.request as ChatRequest;
  const scope = scopeOf(quest.ownerId, quest.sessionId, request.payer, request.features);
  const offers = await offersOf(services.toolRegistry, scope, request.tools ?? []);
  const talk = createTalk(services, desk, {
    request,
    candidates,
    scope,
    offers,
    trimmed: request.features?.questMaster === true ? 'every-round' : 'first-round',
    unlock: async (ids) => {
      const { toolLimits } = request;
      const isLeft = (id: string) => toolLimits === undefined || permits(toolLimits, id);
      const allowed = ids.filter((id) => session.disabledTools?.includes(id) !== true && isLeft(id));
      return (await offersOf(services.toolRegistry, scope, allowed)).filter(({ gated }) => gated !== true);
    },
  });
  const maxToolCalls = request.maxToolCalls ?? DEFAULT_TOOL_CALLS;
  if (request.features?.questMaster === true) {
    const end = await masterQuest({ services, desk, talk, conversation, maxToolCalls });
    if (end?.outcome === 'failed') return end.as;
    if (end !== undefined) return { type: 'message' };
  }
  const finishReason = await runTurn({
    messages: conversation,
    tools: () => talk.tools,
    maxToolCalls,
    signal,
    said: (text) => journal.append(text),
    ask: talk.ask,
    roundEnded: talk.roundEnded,
    runTool: (name, input, place) => talk.runTool(name, input, String(place)),
  });
  if (finishReason === 'content_filter' && journal.text === '')
    return { type: 'error', explanation: BLOCKED };
  return { type: 'message' };
}

async function offersOf(
  registry: ToolRegistry,
  scope: ToolScope,
  ids: readonly string[],
): Promise<readonly ToolOffer[]> {
  const offers = await Promise.all(ids.map((id) => registry.find(id, scope)));
  return offers.filter((offer) => offer !== undefined);
}

function systemPromptOf(
  { hasSystemPrompt }: ChatRequest,
  { systemPrompt }: Readonly<Record<string, Json | undefined>>,
): string | undefined {
  if (typeof systemPrompt === 'string') return systemPrompt;
  // The job was lost and made anew: without that text it would be another question.
  if (hasSystemPrompt === true)
    throw new ApiError(500, 'This turn could not be resumed. Please send it again.');
  return undefined;
}
