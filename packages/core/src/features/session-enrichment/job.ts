import type { JobHandler } from '../../jobs/handler.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Ids } from '../../ports/ids.ts';
import type { Store } from '../../ports/store.ts';
import type { FollowUp } from '../../runs/quest-task.ts';
import { QUESTS, type QuestRecord } from '../../runs/records.ts';
import type { RunningQuests } from '../../runs/running.ts';
import { hasEnded } from '../../runs/states.ts';
import {
  type BackgroundRequest,
  type BackgroundServices,
  backgroundQuest,
  createBackgroundHandler,
} from '../conversation/task.ts';
import type { DialogueRequest } from '../conversation/turn-input.ts';
import { canEditSession } from '../sessions/access.ts';
import { MESSAGES, SESSIONS, type SessionRecord } from '../sessions/records.ts';
import { getLastNumber, getSession, recentMessages } from '../sessions/session.ts';
import { type Enrichment, enrichmentIn, getEnrichment } from './answer.ts';
import { ENRICHMENT_SLOTS } from './records.ts';

const KIND = 'enrichment';
const OPERATION = 'enrichSession';
const MAX_TOKENS = 1000;
/** After the first turn, repeated each time this number of messages was added. */
const EVERY_MESSAGES = 8;
const LOOKED_AT = 20;
/** Maximum attempts when concurrent changes to the session conflict. */
const MAX_TRIES = 3;

const NOTHING: Enrichment = { name: undefined, summary: undefined, tags: [] };

interface EnrichmentRequest extends BackgroundRequest {
  /** Number of the newest message at that time. */
  readonly messages: number;
}

/** Gives a session a name, a summary and tags after its first turn, and again as it grows. One run at a time. */
export function enrichAfterwards(services: { readonly clock: Clock; readonly ids: Ids }): FollowUp {
  return {
    applies: ({ type }) => type === 'message',
    async create(store, quest) {
      const session = await store.collection(SESSIONS).get(quest.sessionId, canEditSession(quest.ownerId));
      if (session === undefined) return undefined;
      const messages = await getLastNumber(store.collection(MESSAGES), session);
      const { enrichedAt } = session;
      if (enrichedAt !== undefined && messages < enrichedAt + EVERY_MESSAGES) return undefined;
      const { model, payer, requestId } = quest.request as DialogueRequest;
      const request: EnrichmentRequest = { model, payer, requestId, messages };
      const next = backgroundQuest(services.ids.next(), KIND, quest, request, services.clock.now());
      return (await acquireSlot(store, session.id, next.id)) ? next : undefined;
    },
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
      const session = await getSession(store, quest);
      const { messages } = await recentMessages(store.collection(MESSAGES), session, LOOKED_AT);
      return getEnrichment(messages, session.summary);
    },
    async keep(transaction, quest, said) {
      // An invalid answer counts as a run, so that such a model is not called after every turn.
      await enrich(transaction, quest, enrichmentIn(said) ?? NOTHING);
    },
  });
}

/** Keeps what a user has chosen, and fills in the rest. */
async function enrich(store: Store, quest: QuestRecord, found: Enrichment): Promise<void> {
  const sessions = store.collection(SESSIONS);
  const mayEdit = canEditSession(quest.ownerId);
  for (let tries = 0; tries < MAX_TRIES; tries += 1) {
    const session = await sessions.get(quest.sessionId, mayEdit);
    if (session === undefined) return;
    const { name, lastUpdated } = session;
    const isDone = await sessions.update(session.id, getChanges(session, quest, found), {
      ...mayEdit,
      name,
      lastUpdated,
    });
    if (isDone !== undefined) return;
  }
}

function getChanges(session: SessionRecord, { request }: QuestRecord, found: Enrichment) {
  const isUnnamed = session.automaticName === session.name;
  const isUntagged = (session.tags ?? []).length === 0 || session.hasAutomaticTags === true;
  return {
    enrichedAt: (request as EnrichmentRequest).messages,
    ...(isUnnamed && found.name !== undefined && { name: found.name, automaticName: undefined }),
    ...(found.summary !== undefined && { summary: found.summary }),
    ...(isUntagged && found.tags.length > 0 && { tags: found.tags, hasAutomaticTags: true }),
  };
}

/** @returns false while another run holds the slot. The slot is free when its quest has ended; no release is necessary. */
async function acquireSlot(store: Store, sessionId: string, questId: string): Promise<boolean> {
  const slots = store.collection(ENRICHMENT_SLOTS);
  const place = await slots.get(sessionId);
  if (place === undefined) return slots.insert({ id: sessionId, questId });
  const holder = await store.collection(QUESTS).get(place.questId);
  if (holder !== undefined && !hasEnded(holder)) return false;
  return (await slots.update(sessionId, { questId }, { questId: place.questId })) !== undefined;
}
