import type { Media } from '../../ports/media.ts';
import type { ModelInfo } from '../../ports/models.ts';
import { ApiError } from '../../shared/errors.ts';
import type { FilesReader } from './reader.ts';

const UNREADABLE = 'A reference file is not an image that models can read.';

/** @throws ApiError 422 for callers: the file is missing, not an image, in moderation, or blocked. */
export async function readInputImage(
  files: FilesReader,
  userId: string,
  id: string,
  model: ModelInfo,
): Promise<Media> {
  const image = (await readInputImages(files, userId, [id], model)).get(id);
  if (image === undefined) throw unusableImage(UNREADABLE);
  return image;
}

/**
 * Reads all of them, by file id. The number of store calls is constant.
 * @throws ApiError as `readInputImage`, before the first is read.
 */
export async function readInputImages(
  files: FilesReader,
  userId: string,
  fileIds: readonly string[],
  model: ModelInfo,
): Promise<ReadonlyMap<string, Media>> {
  const ids = [...new Set(fileIds)];
  const found = await files.findAll(userId, ids);
  for (const id of ids) {
    const file = found.get(id);
    if (file === undefined) throw unusableImage('A reference image was not found.', 'input_image_not_found');
    if (!file.isClean) throw unusableImage('A reference image is still in moderation, or was blocked.');
    if (!file.mimeType.startsWith('image/')) throw unusableImage('A reference file is not an image.');
  }
  const images = new Map<string, Media>();
  const seeing: ModelInfo = { ...model, supportsVision: true };
  for await (const { id, content } of files.contents(userId, ids, seeing)) {
    const image = content?.find((part) => part.type === 'image');
    if (image === undefined) throw unusableImage(UNREADABLE);
    images.set(id, { mediaType: image.mediaType, data: Buffer.from(image.data, 'base64') });
  }
  return images;
}

export function unusableImage(message: string, code?: 'input_image_not_found'): ApiError {
  return new ApiError(422, message, { ...(code !== undefined && { code }) });
}
