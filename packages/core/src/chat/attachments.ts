import { ApiError, notFound } from '../errors.ts';
import type { FilesReader } from '../files/reader.ts';
import { isId } from '../http/identifiers.ts';
import type { ModelContent, ModelInfo } from '../ports/models.ts';
import type { AttachmentDelivery } from '../quests/records.ts';

/** @throws ApiError 404 for a file the user cannot read; 422 `unsupported_input` for one that is not clean. */
export async function checkAttachments(
  files: FilesReader,
  userId: string,
  fileIds: readonly string[],
): Promise<void> {
  for (const id of fileIds) {
    const file = isId(id) ? await files.find(userId, id) : undefined;
    if (file === undefined) throw notFound('File');
    if (!file.isClean) {
      throw new ApiError(422, 'fileIds: a file that is not clean cannot be used', {
        code: 'unsupported_input',
      });
    }
  }
}

/** Base64 characters of all files of one message: more than any provider takes in a request. */
const MOST_CHARACTERS = 64 * 2 ** 20;

/** What the model is given of the attached files, and what it could not take. Once they are too much, no more are read. */
export async function loadAttachments(
  files: FilesReader,
  userId: string,
  fileIds: readonly string[],
  model: ModelInfo,
): Promise<{ contents: ModelContent[]; delivery: AttachmentDelivery | undefined; notices: string[] }> {
  const contents: ModelContent[] = [];
  const droppedIds: string[] = [];
  let left = MOST_CHARACTERS;
  for (const id of fileIds) {
    const content = left > 0 ? await files.content(userId, id, model) : undefined;
    if (content !== undefined) left -= sizeOf(content);
    if (content === undefined || left < 0) droppedIds.push(id);
    else contents.push(...content);
  }
  const requested = fileIds.length;
  const dropped = droppedIds.length;
  return {
    contents,
    delivery:
      requested === 0
        ? undefined
        : {
            requested,
            delivered: requested - dropped,
            fullyDelivered: dropped === 0,
            dropped,
            droppedIds,
          },
    notices:
      dropped === 0 ? [] : [`${dropped} of ${requested} attached files could not be given to ${model.name}.`],
  };
}

function sizeOf(content: readonly ModelContent[]): number {
  return content.reduce((sum, part) => sum + ('data' in part ? part.data.length : 0), 0);
}
