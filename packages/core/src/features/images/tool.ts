import { meterMedia } from '../../credits/media.ts';
import type { ReservationServices } from '../../credits/reservations.ts';
import type { GetCatalogue } from '../../models/allowed-models.ts';
import { type CircuitBreaker, getCircuit } from '../../models/breaker.ts';
import type { CatalogueEntry, ModelCatalogue } from '../../models/catalogue.ts';
import { findDefaultImageModel, isImageMaker } from '../../models/default-model.ts';
import { callFailure } from '../../models/failures.ts';
import { paidCall } from '../../models/paid-call.ts';
import type { AdminSettingsReader } from '../../operations/admin-settings.ts';
import type { Media } from '../../ports/media.ts';
import { describeWithoutSums } from '../../shared/errors.ts';
import type { ToolContext, ToolResult } from '../../tools/registry.ts';
import { answered, failed } from '../../tools/tool.ts';
import type { FileLibrary } from '../files/library.ts';
import type { FileRecord } from '../files/records.ts';
import { callProvider } from '../media-jobs/ask-provider.ts';
import { madeFileId } from '../media-jobs/result-id.ts';
import type { ImageHook, ImageInput } from '../tools/builtin/image.ts';
import { computeMaximum } from './cost.ts';
import { fitSize } from './sizing.ts';

export interface ImageHookServices extends ReservationServices {
  readonly catalogue: ModelCatalogue;
  readonly getCatalogue: GetCatalogue;
  readonly adminSettings: AdminSettingsReader;
  readonly breaker: CircuitBreaker;
  readonly library: FileLibrary;
}

const OPERATION = 'generate_image';
const RATIOS = { square: '1:1', portrait: '2:3', landscape: '3:2' } as const;

/** Generates images within a turn, with the workspace's image model; stores them as files of the user. */
export function createImageHook(services: ImageHookServices): ImageHook {
  const getModel = async (catalogue: ModelCatalogue): Promise<CatalogueEntry | undefined> => {
    const { DefaultImageModel: id, enforceCredits } = await services.adminSettings.current();
    const hasDefault = id !== null && catalogue.isAllowed(id);
    const entry = hasDefault ? catalogue.find(id) : findDefaultImageModel(catalogue, enforceCredits);
    return entry !== undefined && isImageMaker(entry) ? entry : undefined;
  };
  return {
    isReady: async () => (await getModel(services.catalogue)) !== undefined,

    async generate(input, context) {
      const entry = await getModel(await services.getCatalogue({ ...context.payer, userId: context.userId }));
      if (entry === undefined) return failed('Image generation is not configured on this server.');
      try {
        return await draw(services, entry, input, context);
      } catch (error) {
        context.signal.throwIfAborted();
        const failure = callFailure(error, 'public');
        if (failure !== error) {
          services.onError({ operation: `tool:${OPERATION}`, requestId: context.requestId, error });
        }
        return failed(`No image was generated: ${describeWithoutSums(failure)}`);
      }
    },
  };
}

async function draw(
  services: ImageHookServices,
  entry: CatalogueEntry,
  { prompt, shape }: ImageInput,
  { userId, callKey, requestId, payer, signal }: ToolContext,
): Promise<ToolResult> {
  const { provider, prices, info, providerModel } = entry;
  const { enforceCredits: metered } = await services.adminSettings.current();
  const { image } = provider;
  if (image === undefined || (metered && prices === undefined)) {
    return failed('The image model has no price, so it cannot be used here.');
  }
  const request = {
    ...fitSize({ prompt, count: 1, aspectRatio: RATIOS[shape] }, info.image),
    model: providerModel,
  };
  const most = computeMaximum(entry, request, 1);
  const keep = async (made: Media | undefined): Promise<FileRecord | undefined> => {
    if (made === undefined) return undefined;
    const saved = await services.library.save(userId, {
      id: madeFileId(callKey, 0),
      name: `image-${callKey.replaceAll(/[^0-9a-z]/g, '').slice(-8)}.${made.mediaType.split('/')[1] ?? 'png'}`,
      mimeType: made.mediaType,
      content: made.data,
    });
    return saved.file;
  };
  try {
    const { file } = await paidCall(
      services,
      {
        entry,
        // The key of the call is stable: a second worker that repeats the call does not pay again.
        key: `image:${callKey}`,
        payer,
        operation: OPERATION,
        requestId,
        isMetered: metered,
        amount: meterMedia(prices, most, undefined).amount,
      },
      {
        signal,
        whenLeft: 'finish',
        async ask(own) {
          const { images, usage } = await callProvider(services, getCircuit(entry, userId), own, () =>
            image.call(provider, request, { signal: own }),
          );
          if (signal.aborted) return { usage };
          const kept = await keep(images[0]);
          if (kept === undefined) throw new NotKept();
          return { file: kept, usage };
        },
        cost: ({ usage }) => meterMedia(prices, most, usage),
      },
    );
    if (file === undefined) throw new NotKept();
    const { id, name } = file;
    return answered(`The image is shown to the user. Its file id is ${id}.`, {
      type: 'image',
      payload: { fileId: id, name, prompt },
    });
  } catch (error) {
    if (error instanceof NotKept) {
      return failed('The image could not be stored: the storage quota may be used up.');
    }
    throw error;
  }
}

/** An image that cannot be stored is free. */
class NotKept extends Error {
  override readonly name = 'NotKept';
}
