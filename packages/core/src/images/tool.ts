import { meterMedia } from '../credits/media.ts';
import { type ReservationServices, reserve } from '../credits/reservations.ts';
import { isApiError } from '../errors.ts';
import type { FileLibrary } from '../files/library.ts';
import { askOnce } from '../media/asking.ts';
import { madeFileId } from '../media/made.ts';
import type { Breaker } from '../models/breaker.ts';
import type { CatalogueEntry, ModelCatalogue } from '../models/catalogue.ts';
import { providerFailure } from '../models/failures.ts';
import type { CatalogueOf } from '../provider-keys/own-models.ts';
import type { Switches } from '../settings/admin.ts';
import type { ImageHook, ImageWish } from '../tools/builtin/image.ts';
import type { ToolContext, ToolResult } from '../tools/registry.ts';
import { answered, failed } from '../tools/tool.ts';
import { mostOf } from './cost.ts';
import { fitSize } from './sizing.ts';

export interface ImageHookServices extends ReservationServices {
  readonly catalogue: ModelCatalogue;
  readonly catalogueOf: CatalogueOf;
  readonly switches: Switches;
  readonly breaker: Breaker;
  readonly library: FileLibrary;
}

const OPERATION = 'generate_image';
const RATIOS = { square: '1:1', portrait: '2:3', landscape: '3:2' } as const;

/** Pictures within a turn, by the workspace's own image model; kept as files of whoever asked. */
export function createImageHook(services: ImageHookServices): ImageHook {
  const modelOf = async (catalogue: ModelCatalogue): Promise<CatalogueEntry | undefined> => {
    const { DefaultImageModel: id } = await services.switches.current();
    const entry = id === null ? undefined : catalogue.find(id);
    return entry?.info.type === 'image' && entry.provider.image !== undefined ? entry : undefined;
  };
  return {
    isReady: async () => (await modelOf(services.catalogue)) !== undefined,

    async generate(wish, context) {
      const entry = await modelOf(await services.catalogueOf(context.userId));
      if (entry === undefined) return failed('Pictures are not configured on this server.');
      try {
        return await draw(services, entry, wish, context);
      } catch (error) {
        context.signal.throwIfAborted();
        const failure = isApiError(error) ? error : providerFailure(error, 'public');
        if (failure !== error) {
          services.onError({ operation: `tool:${OPERATION}`, requestId: context.requestId, error });
        }
        return failed(`No picture was made: ${failure.message}`);
      }
    },
  };
}

async function draw(
  services: ImageHookServices,
  entry: CatalogueEntry,
  { prompt, shape }: ImageWish,
  { userId, callKey, requestId, payer, signal }: ToolContext,
): Promise<ToolResult> {
  const { provider, prices, info, providerModel } = entry;
  const { enforceCredits: metered } = await services.switches.current();
  if (provider.image === undefined || (metered && prices === undefined)) {
    return failed('The image model has no price, so it cannot be used here.');
  }
  const request = {
    ...fitSize({ prompt, count: 1, aspectRatio: RATIOS[shape] }, info.image),
    model: providerModel,
  };
  const most = mostOf(entry, request, 1);
  // The same call under the same key is paid for once, also when a second worker repeats it.
  const reserved = await reserve(services, {
    key: `image:${callKey}`,
    payer,
    amount: meterMedia(prices, most, undefined).amount,
    operation: OPERATION,
    model: info.id,
    requestId,
    metered,
  });
  try {
    const { images, usage: counted } = await askOnce(services, provider.id, signal, async () =>
      // Looked up again where it is called: it is a method.
      provider.image === undefined ? { images: [], usage: undefined } : provider.image(request, { signal }),
    );
    const [picture] = images;
    const name = `image-${callKey.replaceAll(/[^0-9a-z]/g, '').slice(-8)}.${picture?.mediaType.split('/')[1] ?? 'png'}`;
    const saved =
      picture &&
      (await services.library.save(userId, {
        id: madeFileId(callKey, 0),
        name,
        mimeType: picture.mediaType,
        content: picture.data,
      }));
    if (saved?.file === undefined) {
      await reserved.release();
      return failed('The picture could not be kept: there may be no room left for files.');
    }
    const { amount, usage } = meterMedia(prices, most, counted);
    await reserved.settle(amount, usage);
    return answered(`The picture is shown to the user. It is their file ${saved.file.id}.`, {
      type: 'image',
      payload: { fileId: saved.file.id, name, prompt },
    });
  } catch (error) {
    await reserved.release();
    throw error;
  }
}
