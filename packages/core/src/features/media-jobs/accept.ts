import { type Call, getPayer } from '../../contract/call.ts';
import { isId } from '../../contract/identifiers.ts';
import type { GetCatalogue } from '../../models/allowed-models.ts';
import type { CatalogueEntry, ModelCatalogue } from '../../models/catalogue.ts';
import { refuseRetired } from '../../models/retired.ts';
import { unpriced } from '../../models/unpriced.ts';
import type { AdminSettingsReader } from '../../operations/admin-settings.ts';
import type { AcceptedWork } from '../../operations/idempotency.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Ids } from '../../ports/ids.ts';
import { ApiError } from '../../shared/errors.ts';
import type { FilesReader } from '../files/reader.ts';
import type { GenerationKind } from './kind.ts';
import { getPrices, getReservation } from './money.ts';
import type { GenerationRecord, MediaInput } from './records.ts';
import { getGenerations } from './stored.ts';
import { toCommonWire } from './wire.ts';

export interface AcceptGenerationServices {
  readonly clock: Clock;
  readonly ids: Ids;
  readonly getCatalogue: GetCatalogue;
  readonly adminSettings: AdminSettingsReader;
  readonly files: FilesReader;
}

/** Retention of a generation without held credit: as long as a repeated request may find it. */
const RESERVING_MS = 24 * 3_600_000;

/** Validates a generation request and computes its maximum cost. Holds no credit yet. */
export async function acceptGeneration<Body extends { readonly model: string }>(
  services: AcceptGenerationServices,
  kind: GenerationKind<Body>,
  body: Body,
  { caller, requestId }: Call,
): Promise<AcceptedWork<object & { readonly id: string }>> {
  const entry = getModel(kind, await services.getCatalogue(caller), body.model);
  const { enforceCredits, MaxFileSize } = await services.adminSettings.current();
  if (enforceCredits && entry.prices === undefined) throw unpriced(entry);
  const input = kind.choose(entry, body);
  await checkImage(services.files, caller.userId, input);
  const prices = enforceCredits && entry.prices !== undefined ? getPrices(entry.prices, input) : undefined;
  const now = services.clock.now();
  const record: GenerationRecord = {
    id: services.ids.next(),
    kind: kind.kind,
    ownerId: caller.userId,
    state: 'reserving',
    source: 'api',
    model: entry.info.id,
    input,
    provider: entry.provider.id,
    providerModel: entry.providerModel,
    ...(entry.ownKey === true && { ownKey: true as const }),
    payer: getPayer(caller),
    requestId,
    ...(prices !== undefined && { prices }),
    reserved: prices === undefined ? 0 : getReservation(prices, input, MaxFileSize),
    nextCheckAt: now + RESERVING_MS,
    createdAt: now,
    updatedAt: now,
  };
  return {
    // The response shows the state after the hold: without held credit, the generation is never shown.
    answer: { ...kind.toWire(toCommonWire(record, null), input), id: record.id },
    async write(store) {
      if (!(await getGenerations(store).insert(record))) throw new Error('duplicate quest id');
    },
  };
}

/** @throws ApiError 422 `model_disabled`, `model_unavailable`. */
function getModel<Body>(
  { kind, serves }: GenerationKind<Body>,
  catalogue: ModelCatalogue,
  id: string,
): CatalogueEntry {
  const entry = catalogue.find(id);
  if (entry !== undefined && serves(entry)) return entry;
  refuseRetired(catalogue, id);
  if (catalogue.isDisabled(id)) {
    throw new ApiError(422, `model: '${id}' is switched off`, { code: 'model_disabled' });
  }
  throw new ApiError(422, `model: unknown ${kind} model '${id}'`, { code: 'model_unavailable' });
}

/** @throws ApiError 404 `input_image_not_found`, 422 `unsupported_input`. */
async function checkImage(files: FilesReader, userId: string, input: MediaInput): Promise<void> {
  if (!('mode' in input) || input.inputImageFileId === undefined) return;
  const id = input.inputImageFileId;
  const file = isId(id) ? await files.find(userId, id) : undefined;
  if (file === undefined) {
    throw new ApiError(404, 'input_image_file_id: file not found', { code: 'input_image_not_found' });
  }
  if (!file.isClean) {
    throw new ApiError(422, 'input_image_file_id: the file is in moderation or blocked', {
      code: 'unsupported_input',
    });
  }
  if (!file.mimeType.startsWith('image/')) {
    throw new ApiError(422, 'input_image_file_id: the file is not an image', { code: 'unsupported_input' });
  }
}
