import { type Call, inProject } from '../../contract/call.ts';
import type { GetCatalogue } from '../../models/allowed-models.ts';
import type { CatalogueEntry, ModelCatalogue } from '../../models/catalogue.ts';
import { refuseRetired } from '../../models/retired.ts';
import { unpriced } from '../../models/unpriced.ts';
import type { AdminSettingsReader } from '../../operations/admin-settings.ts';
import type { AcceptedWork } from '../../operations/idempotency.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Ids } from '../../ports/ids.ts';
import type { Store } from '../../ports/store.ts';
import { newQuest, QUESTS } from '../../runs/records.ts';
import { ApiError } from '../../shared/errors.ts';
import { type PayerServices, payerFor } from '../organizations/membership.ts';
import { chooseSession, type SessionRequest } from '../sessions/choice.ts';
import { storeTurn, turnWrites } from '../sessions/new-turn.ts';
import { SESSIONS } from '../sessions/records.ts';
import type { StorageQuotas } from '../storage/usage.ts';
import type { ImageAcknowledgement } from './contract.ts';
import { IMAGE_EDIT, IMAGE_GENERATION, type ImageQuestRequest } from './request.ts';

export interface AcceptImageServices extends PayerServices {
  readonly store: Store;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly getCatalogue: GetCatalogue;
  readonly adminSettings: AdminSettingsReader;
  readonly storageQuotas: StorageQuotas;
}

/** A validated image request. */
export interface ImageInput extends Pick<SessionRequest, 'sessionId' | 'newConversation'> {
  readonly kind: typeof IMAGE_GENERATION | typeof IMAGE_EDIT;
  readonly model: string;
  readonly organizationId: string | null | undefined;
  readonly request: Pick<
    ImageQuestRequest,
    'options' | 'source' | 'maskFileId' | 'referenceFileIds' | 'projectId'
  >;
}

/** Validates an image request. Checks only session and model; the quest reports every other problem. */
export async function acceptImage(
  services: AcceptImageServices,
  input: ImageInput,
  call: Call,
): Promise<AcceptedWork<ImageAcknowledgement>> {
  const { store, clock, ids, adminSettings } = services;
  const payer = await payerFor(services, call.caller, input.organizationId ?? undefined);
  const entry = imageModel(await services.getCatalogue(payer), input.model);
  const { enforceCredits } = await adminSettings.current();
  if (enforceCredits && entry.prices === undefined) throw unpriced(entry);
  const { prompt } = input.request.options;
  const { session, isNew } = await chooseSession(
    services,
    store.collection(SESSIONS),
    { ...input, message: prompt, model: entry.info.id },
    call,
  );
  const now = clock.now();
  const request: ImageQuestRequest = {
    ...input.request,
    model: entry.info.id,
    payer: inProject(payer, session),
    requestId: call.requestId,
  };
  const quest = newQuest(
    { id: ids.next(), kind: input.kind, sessionId: session.id, ownerId: call.caller.userId, request },
    now,
  );
  const pollUrl = `${call.mountPath}/api/v1/quests/${quest.id}`;
  const continues = startsFromImages(request) || (!isNew && (await drewLast(store, session.id)));
  return {
    answer: {
      id: quest.id,
      sessionId: session.id,
      status: 'queued',
      tracking_info: { quest_id: quest.id, check_status_url: pollUrl, poll_url: pollUrl },
      quest: { id: quest.id, sessionId: session.id, status: 'pending' },
      session: { id: session.id },
      originalPrompt: prompt,
      // Prompts reach the model unchanged.
      enhancedPrompt: prompt,
      promptWasEnhanced: false,
      intent: continues ? 'continuation' : 'fresh',
    },
    toWrites: () => turnWrites(quest, session, isNew, services.storageQuotas),
    write: (where) => storeTurn(services, where, quest, session, isNew),
  };
}

/** @throws ApiError 422 `model_disabled`, `model_unavailable`. */
function imageModel(catalogue: ModelCatalogue, id: string): CatalogueEntry {
  const entry = catalogue.find(id);
  if (entry?.info.type === 'image' && entry.provider.image !== undefined) return entry;
  refuseRetired(catalogue, id);
  if (catalogue.isDisabled(id)) {
    throw new ApiError(422, `model: '${id}' is switched off`, { code: 'model_unavailable' });
  }
  throw new ApiError(422, `model: unknown image model '${id}'`, { code: 'model_unavailable' });
}

function startsFromImages({ source, referenceFileIds }: ImageQuestRequest): boolean {
  return source !== undefined || referenceFileIds.length > 0;
}

/** Whether the latest entry of a session is an image. */
async function drewLast(store: Store, sessionId: string): Promise<boolean> {
  const [last] = await store
    .collection(QUESTS)
    .find({ sessionId }, { order: { field: 'id', direction: 'desc' }, limit: 1 });
  return last?.kind === IMAGE_GENERATION || last?.kind === IMAGE_EDIT;
}
