import { type Call, payerOf } from '../call.ts';
import { ApiError } from '../errors.ts';
import type { FilesReader } from '../files/reader.ts';
import { isId } from '../http/identifiers.ts';
import type { AcceptedWork } from '../idempotency.ts';
import type { CatalogueEntry, ModelCatalogue } from '../models/catalogue.ts';
import type { Clock } from '../ports/clock.ts';
import type { Ids } from '../ports/ids.ts';
import type { CatalogueOf } from '../provider-keys/own-models.ts';
import { unpriced } from '../quests/charges.ts';
import type { Switches } from '../settings/admin.ts';
import type { GenerationKind } from './kind.ts';
import { pricesOf, reservationOf } from './money.ts';
import { GENERATIONS, type GenerationRecord, type Wish } from './records.ts';
import { toCommonWire } from './wire.ts';

export interface AcceptGenerationServices {
  readonly clock: Clock;
  readonly ids: Ids;
  readonly catalogueOf: CatalogueOf;
  readonly switches: Switches;
  readonly files: FilesReader;
}

/** As long as a repeated request may find it. What is accepted but for its credit is forgotten after that. */
const RESERVING_MS = 24 * 3_600_000;

/** Finds out whether it can be done, and what it may cost. Nothing is held yet. */
export async function acceptGeneration<Body extends { readonly model: string }>(
  services: AcceptGenerationServices,
  kind: GenerationKind<Body>,
  body: Body,
  { caller, requestId }: Call,
): Promise<AcceptedWork<object & { readonly id: string }>> {
  const entry = modelOf(kind, await services.catalogueOf(caller.userId), body.model);
  const { enforceCredits, MaxFileSize } = await services.switches.current();
  if (enforceCredits && entry.prices === undefined) throw unpriced(entry);
  const wish = kind.choose(entry, body);
  await checkImage(services.files, caller.userId, wish);
  const prices = enforceCredits && entry.prices !== undefined ? pricesOf(entry.prices, wish) : undefined;
  const now = services.clock.now();
  const record: GenerationRecord = {
    id: services.ids.next(),
    kind: kind.kind,
    ownerId: caller.userId,
    state: 'reserving',
    source: 'api',
    model: entry.info.id,
    wish,
    provider: entry.provider.id,
    providerModel: entry.providerModel,
    ...(entry.ownKey === true && { ownKey: true as const }),
    payer: payerOf(caller),
    requestId,
    ...(prices !== undefined && { prices }),
    reserved: prices === undefined ? 0 : reservationOf(prices, wish, MaxFileSize),
    tendAt: now + RESERVING_MS,
    createdAt: now,
    updatedAt: now,
  };
  return {
    // It is told as it will be once its credit is held: without that, it is not told at all.
    answer: { ...kind.toWire(toCommonWire({ ...record, state: 'pending' }, null), wish), id: record.id },
    async write(store) {
      if (!(await store.collection(GENERATIONS).insert(record)))
        throw new Error('a new id was taken already');
    },
  };
}

/** @throws ApiError 422 `model_disabled`, `model_unavailable`. */
function modelOf<Body>(
  { kind, serves }: GenerationKind<Body>,
  catalogue: ModelCatalogue,
  id: string,
): CatalogueEntry {
  const entry = catalogue.find(id);
  if (entry !== undefined && serves(entry)) return entry;
  if (catalogue.isDisabled(id)) {
    throw new ApiError(422, `model: '${id}' is switched off`, { code: 'model_disabled' });
  }
  throw new ApiError(422, `model: there is no ${kind} model '${id}'`, { code: 'model_unavailable' });
}

/** @throws ApiError 404 `input_image_not_found`, 422 `unsupported_input`. */
async function checkImage(files: FilesReader, userId: string, wish: Wish): Promise<void> {
  if (!('mode' in wish) || wish.inputImageFileId === undefined) return;
  const id = wish.inputImageFileId;
  const file = isId(id) ? await files.find(userId, id) : undefined;
  if (file === undefined) {
    throw new ApiError(404, 'input_image_file_id: there is no such file', { code: 'input_image_not_found' });
  }
  if (!file.isClean) {
    throw new ApiError(422, 'input_image_file_id: this file is still being checked, or was blocked', {
      code: 'unsupported_input',
    });
  }
  if (!file.mimeType.startsWith('image/')) {
    throw new ApiError(422, 'input_image_file_id: this file is no image', { code: 'unsupported_input' });
  }
}
