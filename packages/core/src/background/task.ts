import { listen } from '../chat/turn.ts';
import type { JobHandler } from '../engine/worker.ts';
import { type AnsweringServices, askModels } from '../models/answering.ts';
import { candidatesFor } from '../models/candidates.ts';
import type { ModelMessage } from '../ports/models.ts';
import type { Store } from '../ports/store.ts';
import type { CatalogueOf } from '../provider-keys/own-models.ts';
import { createQuestHandler, type QuestHandlerServices } from '../quests/handler.ts';
import { QUESTS, type QuestRecord, type QuestRequest } from '../quests/records.ts';
import type { RunningQuests } from '../quests/running.ts';
import { sessionOf } from '../quests/session.ts';

/*
 * What is done after a turn and nobody waits for: one question to a model, whose answer is kept. It is a quest of its own,
 * with its own hold under its own id, so that it is claimed, fenced, paid once, stopped with its session and recovered
 * like any other, and its failure is nobody else's. Its record goes when it has ended.
 */

export interface BackgroundServices extends QuestHandlerServices, AnsweringServices {
  readonly catalogueOf: CatalogueOf;
  /** By model id: which models to ask when it fails, in order. */
  readonly fallbacks: Readonly<Record<string, readonly string[]>>;
}

export interface BackgroundRequest extends QuestRequest {
  readonly model: string;
}

/** One kind of such work. */
export interface BackgroundTask {
  readonly kind: string;
  /** What its charges name. */
  readonly operation: string;
  /** Output tokens. */
  readonly maxTokens: number;
  /** What the model is asked. */
  question(quest: QuestRecord): Promise<readonly ModelMessage[]>;
  /** Keeps what the model said, in the transaction of the quest's end. May run more than once. */
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

    async work(desk) {
      const { quest, signal, operation } = desk;
      const { model, requestId } = quest.request as BackgroundRequest;
      await sessionOf(services.store, quest);
      const messages = await task.question(quest);
      const catalogue = await services.catalogueOf(quest.ownerId);
      const answering = await askModels(services, {
        candidates: candidatesFor({ catalogue, fallbacks: services.fallbacks }, model),
        requestFor: ({ info, providerModel }) => ({
          model: providerModel,
          messages,
          maxTokens: Math.min(task.maxTokens, info.maxOutputTokens),
        }),
        pay: desk.pay,
        operation,
        requestId,
        signal,
      });
      await listen(answering, { said: desk.journal.append, signal }, false);
      return { type: 'system' };
    },

    async alongside(store, quest) {
      if (quest.status === 'done' && quest.type === 'system') await task.keep(store, quest, quest.text ?? '');
      await store.collection(QUESTS).take(quest.id);
    },
  });
}

/** A quest that follows from another one: in its session, for whoever asked there. */
export function backgroundQuest(
  id: string,
  kind: string,
  after: QuestRecord,
  request: BackgroundRequest,
  now: number,
): QuestRecord {
  const { sessionId, ownerId } = after;
  return {
    id,
    kind,
    sessionId,
    ownerId,
    status: 'pending',
    type: 'system',
    request,
    liveSince: now,
    createdAt: now,
    updatedAt: now,
  };
}
