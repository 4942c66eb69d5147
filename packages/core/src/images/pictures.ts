import { ApiError } from '../errors.ts';
import type { FilesReader } from '../files/reader.ts';
import { isId } from '../http/identifiers.ts';
import type { Media } from '../ports/media.ts';
import type { ModelInfo } from '../ports/models.ts';
import { isWebToolError, type WebTools } from '../ports/web.ts';
import type { ImageQuestRequest } from './request.ts';

/** No picture from elsewhere is larger. */
const MOST_BYTES = 30 * 2 ** 20;

export interface PictureServices {
  readonly files: FilesReader;
  readonly web: WebTools;
}

/**
 * The pictures an image starts from.
 * @throws ApiError in words for callers: one is missing, is no image, is still in moderation, or cannot be fetched.
 */
export async function loadPictures(
  services: PictureServices,
  userId: string,
  request: ImageQuestRequest,
  model: ModelInfo,
  signal: AbortSignal,
): Promise<{ source?: Media; mask?: Media; references?: readonly Media[] }> {
  const file = (id: string): Promise<Media> => pictureOf(services.files, userId, id, model);
  const { source, maskFileId, referenceFileIds } = request;
  const references: Media[] = [];
  for (const id of referenceFileIds) references.push(await file(id));
  return {
    ...(source !== undefined && {
      source: isAddress(source) ? await fetched(services.web, source, signal) : await file(source),
    }),
    ...(maskFileId !== undefined && { mask: await file(maskFileId) }),
    ...(references.length > 0 && { references }),
  };
}

function isAddress(text: string): boolean {
  return /^[a-z][a-z0-9+.-]*:/i.test(text);
}

/** @throws ApiError as `loadPictures`. */
export async function pictureOf(
  files: FilesReader,
  userId: string,
  id: string,
  model: ModelInfo,
): Promise<Media> {
  const found = isId(id) ? await files.find(userId, id) : undefined;
  if (found === undefined) throw unusable('A reference image was not found.', 'input_image_not_found');
  if (!found.isClean) throw unusable('A reference image is still in moderation, or was blocked.');
  if (!found.mimeType.startsWith('image/')) throw unusable('A reference file is not an image.');
  const contents = await files.content(userId, id, { ...model, type: 'text', supportsVision: true });
  const picture = contents?.find((content) => content.type === 'image');
  if (picture === undefined) throw unusable('A reference file is not an image that models can read.');
  return { mediaType: picture.mediaType, data: Buffer.from(picture.data, 'base64') };
}

/** From the open internet only: the port sees to that, after redirects too. */
async function fetched(web: WebTools, address: string, signal: AbortSignal): Promise<Media> {
  if (!/^https:/i.test(address)) throw unusable('image: expected a file id or an https address.');
  if (web.fetchFile === undefined) throw unusable('image: addresses cannot be fetched on this server.');
  try {
    const media = await web.fetchFile(address, { accept: ['image/'], maxBytes: MOST_BYTES }, { signal });
    return media;
  } catch (error) {
    signal.throwIfAborted();
    if (isWebToolError(error)) throw unusable(`image: ${error.message.replace(/^url: /, '')}`);
    throw error;
  }
}

function unusable(message: string, code?: 'input_image_not_found'): ApiError {
  return new ApiError(422, message, { ...(code !== undefined && { code }) });
}
