import type { Call } from '../call.ts';
import { ApiError } from '../errors.ts';
import type { AcceptedWork } from '../idempotency.ts';
import type { CatalogueEntry, ModelCatalogue } from '../models/catalogue.ts';
import { type MembershipCheck, payerFor } from '../organizations/membership.ts';
import type { Clock } from '../ports/clock.ts';
import type { Ids } from '../ports/ids.ts';
import type { Store } from '../ports/store.ts';
import type { CatalogueOf } from '../provider-keys/own-models.ts';
import { unpriced } from '../quests/charges.ts';
import { QUESTS, type QuestRecord } from '../quests/records.ts';
import { chooseSession, type SessionWish } from '../sessions/choice.ts';
import { SESSIONS } from '../sessions/records.ts';
import type { Switches } from '../settings/admin.ts';
import type { ImageAcknowledgement } from './contract.ts';
import { IMAGE_EDIT, IMAGE_GENERATION, type ImageQuestRequest } from './request.ts';

export interface AcceptImageServices {
  readonly store: Store;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly catalogueOf: CatalogueOf;
  readonly switches: Switches;
  readonly isMember: MembershipCheck;
}

/** An image as it is wished for. */
export interface ImageWish extends Pick<SessionWish, 'sessionId' | 'newConversation'> {
  readonly kind: typeof IMAGE_GENERATION | typeof IMAGE_EDIT;
  readonly model: string;
  readonly organizationId: string | null | undefined;
  readonly request: Pick<
    ImageQuestRequest,
    'options' | 'source' | 'maskFileId' | 'referenceFileIds' | 'projectId'
  >;
}

/** Finds out whether an image can be taken on. Only session and model are looked at: all else is the quest's to tell. */
export async function acceptImage(
  services: AcceptImageServices,
  wish: ImageWish,
  call: Call,
): Promise<AcceptedWork<ImageAcknowledgement>> {
  const { store, clock, ids, switches } = services;
  const entry = imageModel(await services.catalogueOf(call.caller.userId), wish.model);
  const { enforceCredits } = await switches.current();
  if (enforceCredits && entry.prices === undefined) throw unpriced(entry);
  const payer = await payerFor(services.isMember, call.caller, wish.organizationId ?? undefined);
  const { prompt } = wish.request.options;
  const { session, isNew } = await chooseSession(
    services,
    store.collection(SESSIONS),
    { ...wish, message: prompt, model: entry.info.id },
    call,
  );
  const now = clock.now();
  const request: ImageQuestRequest = {
    ...wish.request,
    model: entry.info.id,
    payer,
    requestId: call.requestId,
  };
  const quest: QuestRecord = {
    id: ids.next(),
    kind: wish.kind,
    sessionId: session.id,
    ownerId: call.caller.userId,
    status: 'pending',
    type: 'message',
    request,
    liveSince: now,
    createdAt: now,
    updatedAt: now,
  };
  const pollUrl = `${call.mountPath}/api/v1/quests/${quest.id}`;
  const continues = startsFromPictures(request) || (!isNew && (await drewLast(store, session.id)));
  return {
    answer: {
      id: quest.id,
      sessionId: session.id,
      status: 'queued',
      tracking_info: { quest_id: quest.id, check_status_url: pollUrl, poll_url: pollUrl },
      quest: { id: quest.id, sessionId: session.id, status: 'pending' },
      session: { id: session.id },
      originalPrompt: prompt,
      // Prompts reach the model as they are.
      enhancedPrompt: prompt,
      promptWasEnhanced: false,
      intent: continues ? 'continuation' : 'fresh',
    },
    async write(where) {
      const written = await Promise.all([
        where.collection(QUESTS).insert(quest),
        !isNew || where.collection(SESSIONS).insert(session),
      ]);
      if (written.includes(false)) throw new Error('a new id was taken already');
    },
  };
}

/** @throws ApiError 422 `model_disabled`, `model_unavailable`. */
function imageModel(catalogue: ModelCatalogue, id: string): CatalogueEntry {
  const entry = catalogue.find(id);
  if (entry?.info.type === 'image' && entry.provider.image !== undefined) return entry;
  if (catalogue.isDisabled(id)) {
    throw new ApiError(422, `model: '${id}' is switched off`, { code: 'model_unavailable' });
  }
  throw new ApiError(422, `model: there is no image model '${id}'`, { code: 'model_unavailable' });
}

function startsFromPictures({ source, referenceFileIds }: ImageQuestRequest): boolean {
  return source !== undefined || referenceFileIds.length > 0;
}

/** Whether the last thing that happened in a session was a picture. */
async function drewLast(store: Store, sessionId: string): Promise<boolean> {
  const [last] = await store
    .collection(QUESTS)
    .find({ sessionId }, { order: { field: 'id', direction: 'desc' }, limit: 1 });
  return last?.kind === IMAGE_GENERATION || last?.kind === IMAGE_EDIT;
}
