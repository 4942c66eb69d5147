import { type Call, getPayer } from '../../contract/call.ts';
import { meterMedia } from '../../credits/media.ts';
import type { ReservationServices } from '../../credits/reservations.ts';
import { type CircuitBreaker, getCircuit } from '../../models/breaker.ts';
import type { CatalogueEntry } from '../../models/catalogue.ts';
import { callFailure, emptyResult } from '../../models/failures.ts';
import { paidCall } from '../../models/paid-call.ts';
import type { AdminSettingsReader } from '../../operations/admin-settings.ts';
import type { AdmissionControl } from '../../operations/admission-control.ts';
import type { ImageRequest, ImageResult } from '../../ports/media.ts';
import { ApiError, isApiError } from '../../shared/errors.ts';
import { callProvider } from '../media-jobs/ask-provider.ts';
import { checkAbilities, fitOptions } from './abilities.ts';
import { computeMaximum } from './cost.ts';
import type { ImageOptions } from './request.ts';

export interface ImagesAtOnceServices extends ReservationServices {
  readonly adminSettings: AdminSettingsReader;
  readonly admissionControl: AdmissionControl;
  readonly breaker: CircuitBreaker;
}

/** Images to make while the client waits, without a quest and without files. */
export interface ImagesAtOnce {
  /** The id of the operation, for charges. */
  readonly operation: string;
  readonly entry: CatalogueEntry;
  readonly options: ImageOptions;
  readonly input: Pick<ImageRequest, 'source' | 'mask' | 'references'>;
}

/**
 * Holds credit, makes images and settles. A caller who disconnects pays for the result, because image providers cannot be
 * stopped.
 * @throws ApiError for callers.
 */
export async function makeImagesAtOnce(
  services: ImagesAtOnceServices,
  { operation, entry, options, input }: ImagesAtOnce,
  call: Call,
): Promise<ImageResult> {
  services.admissionControl.admit();
  const { enforceCredits: isMetered } = await services.adminSettings.current();
  const { provider, prices, providerModel } = entry;
  const { requestId, caller, signal } = call;
  checkAbilities(entry, options, {
    isEdit: input.source !== undefined,
    references: input.references?.length ?? 0,
  });
  const request: ImageRequest = { ...fitOptions(options, entry), ...input, model: providerModel };
  const most = computeMaximum(entry, request, request.count);
  const cost = ({ images, usage }: ImageResult) =>
    meterMedia(prices, computeMaximum(entry, request, Math.min(images.length, request.count)), usage);
  try {
    const result = await paidCall(
      services,
      {
        entry,
        key: call.id,
        payer: getPayer(caller),
        operation,
        requestId,
        isMetered,
        amount: meterMedia(prices, most, undefined).amount,
      },
      {
        signal,
        whenLeft: 'finish',
        ask: (own) =>
          callProvider(services, getCircuit(entry, caller.userId), own, async () => {
            if (provider.image === undefined) throw new Error(`Provider ${provider.id} makes no images`);
            const result = await provider.image(request, { signal: own });
            const images = result.images.filter(({ data }) => data.length > 0);
            if (images.length === 0) throw emptyResult();
            return { ...result, images };
          }),
        cost,
      },
    );
    // Additional images that were not requested are free.
    return { ...result, images: result.images.slice(0, request.count) };
  } catch (error) {
    if (signal.aborted)
      throw new ApiError(400, 'The client disconnected before the answer', { cause: error });
    if (isApiError(error)) throw error;
    services.onError({ operation, requestId, error });
    throw callFailure(error, 'public');
  }
}
