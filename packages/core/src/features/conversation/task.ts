import type { JobHandler } from '../../jobs/handler.ts';
import type { GetCatalogue } from '../../models/allowed-models.ts';
import { type AnsweringServices, generateWithFallback } from '../../models/answering.ts';
import { candidatesFor } from '../../models/candidates.ts';
import { taskEffort, taskOutputCap } from '../../models/output-cap.ts';
import type { ModelMessage } from '../../ports/models.ts';
import type { Store } from '../../ports/store.ts';
import { createQuestHandler, type QuestHandlerServices } from '../../runs/handler.ts';
import { newQuest, QUESTS, type QuestRecord, type QuestRequest } from '../../runs/records.ts';
import type { RunningQuests } from '../../runs/running.ts';
import { getSession } from '../sessions/session.ts';
import { readRound } from './turn.ts';

/*
 * Follow-up work of a turn: one question to a model, whose answer is stored. It is a quest of its own, with its own hold
 * under its own id, so that it is claimed, fenced, paid once, stopped with its session and recovered like any other.
 * No caller waits for it, and its failure affects nothing else. Its record is deleted when it has ended.
 */

export interface BackgroundServices extends QuestHandlerServices, AnsweringServices {
  readonly getCatalogue: GetCatalogue;
  /** By model id: the fallback models, in order. */
  readonly fallbacks: Readonly<Record<string, readonly string[]>>;
}

export interface BackgroundRequest extends QuestRequest {
  readonly model: string;
}

/** One kind of follow-up work. */
export interface BackgroundTask {
  readonly kind: string;
  /** The operation name on its charges. */
  readonly operation: string;
  /** Output tokens, reasoning excluded. */
  readonly maxTokens: number;
  /** The question for the model. */
  question(quest: QuestRecord): Promise<readonly ModelMessage[]>;
  /** Stores the model's answer, in the transaction that ends the quest. May run more than once. */
  keep(store: Store, quest: QuestRecord, said: string): Promise<void>;
}

const CONCURRENCY = 5;

export function createBackgroundHandler(
  services: BackgroundServices,
  runningQuests: RunningQuests,
  task: BackgroundTask,
): JobHandler {
  return createQuestHandler(services, runningQuests, {
    kind: task.kind,
    operation: task.operation,
    concurrency: CONCURRENCY,
    phases: [],
    unfinished: { type: 'system' },

    async work(run) {
      const { quest, signal, operation } = run;
      const { model, requestId } = quest.request as BackgroundRequest;
      await getSession(services.store, quest);
      const messages = await task.question(quest);
      const catalogue = await services.getCatalogue(quest.request.payer);
      const answering = await generateWithFallback(services, {
        candidates: candidatesFor({ catalogue, fallbacks: services.fallbacks }, model),
        requestFor: ({ info, providerModel }) => ({
          model: providerModel,
          messages,
          maxTokens: taskOutputCap(info, task.maxTokens),
          ...taskEffort(info),
          promptCache: { mode: 'off' },
        }),
        pay: run.pay,
        operation,
        requestId,
        callerId: quest.ownerId,
        signal,
      });
      await readRound(answering, signal, run.writer.append);
      return { type: 'system' };
    },

    async alongside(store, quest) {
      if (quest.status === 'done' && quest.type === 'system') await task.keep(store, quest, quest.text ?? '');
      await store.collection(QUESTS).take(quest.id);
    },
    async abandoned(store, quest) {
      await store.collection(QUESTS).take(quest.id);
    },
  });
}

/** Builds a quest that follows from another one: in its session, for the same user. */
export function backgroundQuest(
  id: string,
  kind: string,
  after: QuestRecord,
  request: BackgroundRequest,
  now: number,
): QuestRecord {
  const { sessionId, ownerId } = after;
  return { ...newQuest({ id, kind, sessionId, ownerId, request }, now), type: 'system' };
}
