import type { Media } from '../../ports/media.ts';
import type { ModelInfo } from '../../ports/models.ts';
import { isWebToolError, type WebTools } from '../../ports/web.ts';
import { readInputImages, unusableImage } from '../files/input-image.ts';
import type { FilesReader } from '../files/reader.ts';
import type { ImageQuestRequest } from './request.ts';

/** Maximum bytes of a fetched image. */
const MAX_BYTES = 30 * 2 ** 20;

export interface InputImageServices {
  readonly files: FilesReader;
  readonly web: WebTools;
}

/**
 * Loads the input images of a request.
 * @throws ApiError for callers: one is missing, not an image, still in moderation, or cannot be fetched.
 */
export async function loadInputImages(
  services: InputImageServices,
  userId: string,
  request: ImageQuestRequest,
  model: ModelInfo,
  signal: AbortSignal,
): Promise<{ source?: Media; mask?: Media; references?: readonly Media[] }> {
  const { source, maskFileId, referenceFileIds } = request;
  const isFetched = source !== undefined && isAddress(source);
  const sourceId = isFetched ? undefined : source;
  const ids = [...referenceFileIds, sourceId, maskFileId].filter((id) => id !== undefined);
  const inputImages = await readInputImages(services.files, userId, ids, model);
  const references = referenceFileIds.flatMap((id) => inputImages.get(id) ?? []);
  const mask = inputImages.get(maskFileId ?? '');
  const start = isFetched ? await fetched(services.web, source, signal) : inputImages.get(sourceId ?? '');
  return {
    ...(start !== undefined && { source: start }),
    ...(mask !== undefined && { mask }),
    ...(references.length > 0 && { references }),
  };
}

function isAddress(text: string): boolean {
  return /^[a-z][a-z0-9+.-]*:/i.test(text);
}

/** Public internet only: the port enforces that, after redirects too. */
async function fetched(web: WebTools, address: string, signal: AbortSignal): Promise<Media> {
  if (!/^https:/i.test(address)) throw unusableImage('image: expected a file id or an https URL.');
  if (web.fetchFile === undefined) throw unusableImage('image: this server cannot fetch URLs.');
  try {
    const media = await web.fetchFile(address, { accept: ['image/'], maxBytes: MAX_BYTES }, { signal });
    return media;
  } catch (error) {
    signal.throwIfAborted();
    if (isWebToolError(error)) throw unusableImage(`image: ${error.message.replace(/^url: /, '')}`);
    throw error;
  }
}
