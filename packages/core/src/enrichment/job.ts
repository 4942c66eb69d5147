import {
  type BackgroundRequest,
  type BackgroundServices,
  backgroundQuest,
  createBackgroundHandler,
} from '../background/task.ts';
import { recentMessages } from '../chat/conversation.ts';
import type { DialogueRequest } from '../dialogues/scene.ts';
import type { JobHandler } from '../engine/worker.ts';
import type { Clock } from '../ports/clock.ts';
import type { Ids } from '../ports/ids.ts';
import type { Store } from '../ports/store.ts';
import type { FollowUp } from '../quests/handler.ts';
import { QUESTS, type QuestRecord } from '../quests/records.ts';
import type { RunningQuests } from '../quests/running.ts';
import { sessionOf } from '../quests/session.ts';
import { hasEnded } from '../quests/transitions.ts';
import { canEditSession } from '../sessions/access.ts';
import { MESSAGES, SESSIONS, type SessionRecord } from '../sessions/records.ts';
import { type Enrichment, enrichmentIn, enrichmentOf } from './answer.ts';
import { ENRICHMENT_PLACES } from './records.ts';

const KIND = 'enrichment';
const OPERATION = 'enrichSession';
const MAX_TOKENS = 1000;
/** After the first turn again whenever so many messages have come. */
const EVERY_MESSAGES = 8;
const LOOKED_AT = 20;
/** A session that changes again and again under our hands is left as it is. */
const MOST_TRIES = 3;

const NOTHING: Enrichment = { name: undefined, summary: undefined, tags: [] };

interface EnrichmentRequest extends BackgroundRequest {
  /** Messages there were. */
  readonly messages: number;
}

/** A session gets a name, a summary and tags after its first turn, and again as it grows. One at a time. */
export function enrichAfterwards(services: { readonly clock: Clock; readonly ids: Ids }): FollowUp {
  return async (store, quest) => {
    if (quest.type !== 'message') return undefined;
    const session = await store.collection(SESSIONS).get(quest.sessionId, canEditSession(quest.ownerId));
    if (session === undefined) return undefined;
    const messages = await store.collection(MESSAGES).count({ sessionId: session.id });
    const { enrichedAt } = session;
    if (enrichedAt !== undefined && messages < enrichedAt + EVERY_MESSAGES) return undefined;
    const { model, payer, requestId } = quest.request as DialogueRequest;
    const request: EnrichmentRequest = { model, payer, requestId, messages };
    const next = backgroundQuest(services.ids.next(), KIND, quest, request, services.clock.now());
    return (await takePlace(store, session.id, next.id)) ? next : undefined;
  };
}

export function createEnrichmentHandler(
  services: BackgroundServices,
  runningQuests: RunningQuests,
): JobHandler {
  const { store } = services;
  return createBackgroundHandler(services, runningQuests, {
    kind: KIND,
    operation: OPERATION,
    maxTokens: MAX_TOKENS,
    async question(quest) {
      const session = await sessionOf(store, quest);
      const said = await recentMessages(store.collection(MESSAGES), session, LOOKED_AT);
      return enrichmentOf(said, session.summary);
    },
    async keep(transaction, quest, said) {
      // An answer without sense counts too: a model that gives such ones is not asked after every turn.
      await enrich(transaction, quest, enrichmentIn(said) ?? NOTHING);
    },
  });
}

/** What somebody has chosen stays; what nobody has is filled in. */
async function enrich(store: Store, quest: QuestRecord, found: Enrichment): Promise<void> {
  const sessions = store.collection(SESSIONS);
  const mayEdit = canEditSession(quest.ownerId);
  for (let tries = 0; tries < MOST_TRIES; tries += 1) {
    const session = await sessions.get(quest.sessionId, mayEdit);
    if (session === undefined) return;
    const { name, lastUpdated } = session;
    const isDone = await sessions.update(session.id, changesOf(session, quest, found), {
      ...mayEdit,
      name,
      lastUpdated,
    });
    if (isDone !== undefined) return;
  }
}

function changesOf(session: SessionRecord, { request }: QuestRecord, found: Enrichment) {
  const isUnnamed = session.automaticName !== undefined && session.automaticName === session.name;
  const isUntagged = (session.tags ?? []).length === 0 || session.hasAutomaticTags === true;
  return {
    enrichedAt: (request as EnrichmentRequest).messages,
    ...(isUnnamed && found.name !== undefined && { name: found.name, automaticName: undefined }),
    ...(found.summary !== undefined && { summary: found.summary }),
    ...(isUntagged && found.tags.length > 0 && { tags: found.tags, hasAutomaticTags: true }),
  };
}

/** @returns false while another one has it. It is free when its quest has ended; nobody has to give it back. */
async function takePlace(store: Store, sessionId: string, questId: string): Promise<boolean> {
  const places = store.collection(ENRICHMENT_PLACES);
  const place = await places.get(sessionId);
  if (place === undefined) return places.insert({ id: sessionId, questId });
  const holder = await store.collection(QUESTS).get(place.questId);
  if (holder !== undefined && !hasEnded(holder)) return false;
  return (await places.update(sessionId, { questId }, { questId: place.questId })) !== undefined;
}
