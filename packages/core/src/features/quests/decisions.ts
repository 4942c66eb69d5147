import { defineRoute, type Route } from '../../operations/route.ts';
import { createDecideQuest, type DecisionServices, type NewDecision } from '../../runs/decisions.ts';
import { invalid, notFound } from '../../shared/errors.ts';
import { canEditSession } from '../sessions/access.ts';
import { type DecisionBody, decideQuestCalls } from './decisions-contract.ts';
import { type QuestServices, questFinder, shown } from './handlers.ts';

/** Maximum length of an answer, in characters. */
const MAX_OUTPUT = 200_000;

/** `POST /api/v1/quests/{id}/decisions` */
export function createDecideQuestHandler(services: QuestServices & DecisionServices): Route {
  const find = questFinder(services.store);
  const decide = createDecideQuest(services);
  return defineRoute(decideQuestCalls, services, async ({ params, body }, { caller, mountPath }) => {
    const quest = await find(params.id, canEditSession(caller.userId));
    // Other users of the session do not decide with the rights of the user who asked.
    if (quest.ownerId !== caller.userId) throw notFound('Quest');
    const decisions = body.decisions.map(toDecision);
    const isRepeated = decisions.findIndex(
      ({ callId }, at) => decisions.findIndex((one) => one.callId === callId) < at,
    );
    if (isRepeated >= 0) throw invalid(`decisions.${isRepeated}.callId`, 'must be unique');
    return shown(services, await decide(quest.id, decisions), caller.userId, mountPath);
  });
}

function toDecision({ callId, ...body }: DecisionBody, at: number): NewDecision {
  switch (body.decision) {
    case 'approve':
      return { callId, decision: { type: 'approve' } };
    case 'reject': {
      const { reason } = body;
      return { callId, decision: { type: 'reject', ...(reason !== undefined && { reason }) } };
    }
    case 'edit':
      // A parsed JSON body.
      return { callId, decision: { type: 'edit', input: body.input as Record<string, never> } };
    case 'answer':
      return { callId, decision: toAnswer(body.output, body.isError, `decisions.${at}.output`) };
  }
}

/** The answer of a tool of the client. @throws ApiError 422 without a result, or for one that is too long. */
export function toAnswer(output: unknown, isError: boolean, path: string): NewDecision['decision'] {
  if (output === undefined) throw invalid(path, 'is required');
  const text = typeof output === 'string' ? output : JSON.stringify(output);
  if (text.length > MAX_OUTPUT) throw invalid(path, `must have at most ${MAX_OUTPUT} characters`);
  return { type: 'answer', output: text, isError };
}
