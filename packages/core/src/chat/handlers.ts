import type { Call } from '../call.ts';
import { notFound } from '../errors.ts';
import type { PipelineServices } from '../pipeline.ts';
import { type BeginServices, createBeginQuest } from '../quests/begin.ts';
import { questJob } from '../quests/handler.ts';
import type { QuestNotices } from '../quests/notices.ts';
import { QUESTS } from '../quests/records.ts';
import { hasEnded } from '../quests/transitions.ts';
import { defineRoute, type Route } from '../route.ts';
import { SESSIONS } from '../sessions/records.ts';
import { type AcceptServices, createAcceptMessage } from './accept.ts';
import { describePrompt, toCompletedTurn, waitTimeout } from './answer.ts';
import { type Acknowledgement, type ChatBody, type CompletedTurn, sendChatMessage } from './contract.ts';
import { CHAT } from './job.ts';
import type { PromptSource } from './prompt.ts';

export interface ChatServices extends PipelineServices, AcceptServices, BeginServices {
  readonly notices: QuestNotices;
  readonly promptSources: readonly PromptSource[];
  /** So long a caller may wait for something, milliseconds. */
  readonly requestTimeoutMs: number;
}

/** `POST /api/chat`: take the message, acknowledge it; the turn runs as a quest. */
export function createChatHandler(services: ChatServices): Route {
  const accept = createAcceptMessage(services);
  const begin = createBeginQuest(services);
  const finish = createFinish(services);
  const { path } = sendChatMessage;

  return defineRoute(sendChatMessage, services, async ({ body }, call) => {
    const arrivedAt = services.clock.now();
    const { systemPrompt } = body;
    const answer = await begin(
      { call, path, body },
      () => accept(body, call),
      (id) => questJob({ id, kind: CHAT }, systemPrompt === undefined ? {} : { systemPrompt }),
    );
    return body.wait ? finish(body, call, answer, arrivedAt) : answer;
  });
}

/** Waits for a turn's end, as long as a caller may. */
function createFinish(services: ChatServices) {
  const { clock, notices, requestTimeoutMs } = services;
  const quests = services.store.collection(QUESTS);
  const sessions = services.store.collection(SESSIONS);

  return async (
    body: ChatBody,
    { signal }: Call,
    answer: Acknowledgement,
    arrivedAt: number,
  ): Promise<CompletedTurn> => {
    const quest = await notices.untilEnded(quests, answer.id, { timeoutMs: requestTimeoutMs, signal });
    // Deleted with its session: there is nothing to poll.
    if (quest === undefined) throw notFound('Session');
    if (!hasEnded(quest)) throw waitTimeout(answer);
    const wantsPrompt = body.includePromptDetails === true || body.includeSystemPrompt === true;
    const session = wantsPrompt ? await sessions.get(quest.sessionId) : undefined;
    const prompt = await describePrompt(services, session, quest, body);
    return toCompletedTurn(answer, quest, clock.now() - arrivedAt, prompt);
  };
}
