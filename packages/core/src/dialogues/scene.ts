import type { AgentEvents } from '../agents/events.ts';
import { loadAttachments } from '../chat/attachments.ts';
import { recentMessages } from '../chat/conversation.ts';
import type { PromptSource } from '../chat/prompt.ts';
import type { FilesReader } from '../files/reader.ts';
import type { AnsweringServices } from '../models/answering.ts';
import { type Candidates, candidatesFor } from '../models/candidates.ts';
import type { ModelCatalogue } from '../models/catalogue.ts';
import type { Ids } from '../ports/ids.ts';
import type { ModelContent } from '../ports/models.ts';
import type { CatalogueOf } from '../provider-keys/own-models.ts';
import type { Desk } from '../quests/desk.ts';
import type { FollowUp, QuestHandlerServices } from '../quests/handler.ts';
import type { QuestRequest } from '../quests/records.ts';
import { sessionOf } from '../quests/session.ts';
import { MESSAGES, type MessageRecord, type SessionRecord } from '../sessions/records.ts';
import type { ToolRegistry } from '../tools/registry.ts';

/*
 * What turns of a conversation and runs of agents have in common: somebody said something in a session, and a model
 * with tools answers.
 */

export interface DialogueServices extends QuestHandlerServices, AnsweringServices {
  readonly ids: Ids;
  readonly catalogue: ModelCatalogue;
  readonly catalogueOf: CatalogueOf;
  readonly files: FilesReader;
  readonly toolRegistry: ToolRegistry;
  readonly promptSources: readonly PromptSource[];
  readonly agentEvents: AgentEvents;
  readonly followUps: readonly FollowUp[];
  /** By model id: which models to ask when it fails, in order. */
  readonly fallbacks: Readonly<Record<string, readonly string[]>>;
}

/** What every such quest was asked. Plain JSON. */
export interface DialogueRequest extends QuestRequest {
  readonly message: string;
  readonly model: string;
  readonly maxTokens: number;
  readonly temperature?: number;
  /** Tokens an answer may think. */
  readonly thinkingBudget?: number;
  readonly fileIds?: readonly string[];
  /** The message is looked through for what is worth remembering. */
  readonly remembers?: true;
}

/** What there is before the model is asked. */
export interface Scene {
  readonly session: SessionRecord;
  readonly candidates: Candidates;
  /** Oldest first. */
  readonly history: readonly MessageRecord[];
  /** The attached files, as the model takes them. */
  readonly contents: readonly ModelContent[];
}

/** @param historyCount how many earlier messages are looked at. */
export async function openScene(
  services: DialogueServices,
  { quest, tell }: Desk,
  { model, fileIds = [] }: DialogueRequest,
  historyCount: number,
): Promise<Scene> {
  const { store } = services;
  const session = await sessionOf(store, quest);
  const candidates = candidatesFor(
    { catalogue: await services.catalogueOf(quest.ownerId), fallbacks: services.fallbacks },
    model,
  );
  const history = await recentMessages(store.collection(MESSAGES), session, historyCount);
  const { contents, delivery, notices } = await loadAttachments(
    services.files,
    quest.ownerId,
    fileIds,
    candidates[0].info,
  );
  tell({
    ...(delivery !== undefined && { attachmentDelivery: delivery }),
    ...(notices.length > 0 && { attachmentNotices: notices }),
  });
  return { session, candidates, history, contents };
}
