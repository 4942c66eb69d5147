import type { Call } from '../../contract/call.ts';
import type { JobWatch } from '../../jobs/job-watch.ts';
import { defineRoute, type Route } from '../../operations/route.ts';
import { sealSystemPrompt, showPrompt } from '../../prompts/sealed-texts.ts';
import { createBeginQuest } from '../../runs/begin.ts';
import { questJob } from '../../runs/quest-job.ts';
import { QUESTS } from '../../runs/records.ts';
import { hasEnded } from '../../runs/states.ts';
import { ApiError, notFound } from '../../shared/errors.ts';
import { createAcceptMessage } from './accept.ts';
import { toCompletedTurn, waitTimeout } from './answer.ts';
import { type Acknowledgement, type CompletedTurn, sendChatMessage } from './contract.ts';
import { CHAT } from './job.ts';
import { createUiVariant, type UiChatServices } from './ui-handlers.ts';

/** The services of `createChatHandler`; `Services` satisfies it. */
export interface ChatServices extends UiChatServices {
  /** Says why a reply is late. */
  readonly jobWatch: JobWatch;
  /** Maximum wait of a caller for a reply, milliseconds. */
  readonly requestTimeoutMs: number;
}

/** `POST /api/chat`: accepts and acknowledges the message; the turn runs as a quest. */
export function createChatHandler(services: ChatServices): Route {
  const accept = createAcceptMessage(services);
  const begin = createBeginQuest(services);
  const finish = createFinish(services);
  const { path } = sendChatMessage;

  return defineRoute(
    sendChatMessage,
    services,
    async ({ body }, call) => {
      const arrivedAt = services.clock.now();
      const { systemPrompt } = body;
      const answer = await begin(
        { call, path, body },
        () => accept(body, call),
        (id, { sessionId }) =>
          questJob(
            { id, kind: CHAT, ownerId: call.caller.userId },
            { sessionId, ...sealSystemPrompt(services.textBox, id, systemPrompt) },
          ),
      );
      return body.wait ? finish(call, answer, arrivedAt) : answer;
    },
    createUiVariant(services, path),
  );
}

/** Waits for the end of a turn, up to the maximum wait. */
function createFinish(services: ChatServices) {
  const { clock, jobWatch, questEvents, requestTimeoutMs, textBox } = services;
  const quests = services.store.collection(QUESTS);

  return async (
    { caller, signal }: Call,
    answer: Acknowledgement,
    arrivedAt: number,
  ): Promise<CompletedTurn> => {
    const quest = await questEvents.untilEnded(quests, answer.id, { timeoutMs: requestTimeoutMs, signal });
    // The quest was deleted with its session: polling is useless.
    if (quest === undefined) throw notFound('Session');
    if (!hasEnded(quest) && quest.status !== 'waiting') {
      if (signal.aborted) throw new ApiError(400, 'The client disconnected before the turn ended');
      throw waitTimeout(answer, quest.status === 'pending' && (await jobWatch.isUnattended()));
    }
    const prompt = showPrompt(textBox, quest, caller.userId);
    return toCompletedTurn(answer, quest, clock.now() - arrivedAt, prompt);
  };
}
