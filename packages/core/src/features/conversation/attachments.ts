import type { ModelContent, ModelInfo } from '../../ports/models.ts';
import type { CallOptions } from '../../ports/options.ts';
import type { AttachmentDelivery } from '../../runs/records.ts';
import { ApiError, notFound } from '../../shared/errors.ts';
import type { FilesReader } from '../files/reader.ts';

/** @throws ApiError 404 for a file that the user may not read; 422 `unsupported_input` for one without the status clean. */
export async function checkAttachments(
  files: FilesReader,
  userId: string,
  fileIds: readonly string[],
): Promise<void> {
  const found = await files.findAll(userId, fileIds);
  for (const id of fileIds) {
    const file = found.get(id);
    if (file === undefined) throw notFound('File');
    if (!file.isClean) {
      throw new ApiError(422, 'fileIds: only files with the status clean can be used', {
        code: 'unsupported_input',
      });
    }
  }
}

/** Maximum base64 characters of all files of one message: more than any provider accepts in a request. */
const MAX_CHARACTERS = 64 * 2 ** 20;

/** Returns the attached files, at least one, in the form for the model, and a note about the rejected ones. Reads no files beyond the maximum. */
export async function loadAttachments(
  files: FilesReader,
  userId: string,
  fileIds: readonly string[],
  model: ModelInfo,
  options: CallOptions = {},
): Promise<{ contents: ModelContent[]; delivery: AttachmentDelivery; notices: string[] }> {
  const contents: ModelContent[] = [];
  const delivered = new Set<string>();
  const refusals: string[] = [];
  let left = MAX_CHARACTERS;
  for await (const { id, content, refusal } of files.contents(userId, fileIds, model, options)) {
    if (refusal !== undefined) refusals.push(refusal);
    if (content === undefined) continue;
    left -= getSize(content);
    if (left < 0) break;
    contents.push(...content);
    delivered.add(id);
  }
  const droppedIds = fileIds.filter((id) => !delivered.has(id));
  const requested = fileIds.length;
  const dropped = droppedIds.length;
  return {
    contents,
    delivery: {
      requested,
      delivered: requested - dropped,
      fullyDelivered: dropped === 0,
      dropped,
      droppedIds,
    },
    notices: [
      ...(dropped === 0
        ? []
        : [`${dropped} of ${requested} attached files could not be given to ${model.name}.`]),
      ...refusals,
    ],
  };
}

function getSize(content: readonly ModelContent[]): number {
  return content.reduce((sum, part) => sum + ('data' in part ? part.data.length : 0), 0);
}
