import { ApiError } from '../errors.ts';
import type { CatalogueOf } from '../provider-keys/own-models.ts';
import type { QuestRecord } from '../quests/records.ts';
import { errorCodeOf, payloadsOf, repliesOf, replyOf } from '../quests/wire.ts';
import type { SessionRecord } from '../sessions/records.ts';
import type { Acknowledgement, ChatBody, CompletedTurn } from './contract.ts';
import { inputLimit } from './conversation.ts';
import { composePrompt, type PromptSource } from './prompt.ts';
import type { ChatRequest } from './request.ts';

/** What a caller gets who has waited for the reply. */
export function toCompletedTurn(
  acknowledgement: Acknowledgement,
  quest: QuestRecord,
  totalMs: number,
  prompt: Pick<CompletedTurn, 'promptDetails' | 'promptText'>,
): CompletedTurn {
  const response = replyOf(quest);
  const replies = repliesOf(quest);
  const errorCode = errorCodeOf(quest);
  return {
    ...acknowledgement,
    status: quest.status,
    type: quest.type,
    ...(errorCode !== undefined && { errorCode }),
    response,
    responses: replies.length === 0 && response !== null ? [response] : replies,
    toolPayloads: [...payloadsOf(quest)],
    createdAt: new Date(quest.createdAt).toISOString(),
    performance: { total_ms: totalMs, phases: { ...NO_PHASES, ...quest.phases } },
    ...prompt,
  };
}

const NO_PHASES = { load: 0, prompt: 0, model: 0, tools: 0, store: 0 };

/** The turn goes on; this caller has waited long enough. */
export function waitTimeout({ id, sessionId }: Acknowledgement): ApiError {
  return new ApiError(504, 'The reply was not ready in time. Poll the quest for it.', {
    code: 'request_timeout',
    extra: { quest_id: id, sessionId },
  });
}

/** What the model was told about how to behave, for those who ask. Put together anew: it is not kept with the quest. */
export async function describePrompt(
  services: { readonly catalogueOf: CatalogueOf; readonly promptSources: readonly PromptSource[] },
  session: SessionRecord | undefined,
  quest: QuestRecord,
  body: ChatBody,
): Promise<Pick<CompletedTurn, 'promptDetails' | 'promptText'>> {
  const wantsDetails = body.includePromptDetails === true;
  const wantsText = body.includeSystemPrompt === true;
  const { model, maxTokens, features, payer, requestId } = quest.request as ChatRequest;
  const entry = (await services.catalogueOf(quest.ownerId)).find(model);
  if (session === undefined || entry === undefined || !(wantsDetails || wantsText)) return {};
  const { text, details } = await composePrompt(
    services.promptSources,
    {
      userId: quest.ownerId,
      session,
      message: body.message,
      askedAt: quest.createdAt,
      promptMode: body.promptMode,
      features,
      systemPrompt: body.systemPrompt,
      turn: { id: quest.id, payer, requestId },
    },
    inputLimit(entry.info, maxTokens),
  );
  return {
    ...(wantsDetails && { promptDetails: [...details] }),
    ...(wantsText && { promptText: text }),
  };
}
