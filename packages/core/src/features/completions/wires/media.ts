import { type FieldIssue, parseDataUrl } from '../../../contract/data-url.ts';
import type { CatalogueEntry } from '../../../models/catalogue.ts';
import type { ModelContent, ModelInfo } from '../../../ports/models.ts';
import type { CallOptions } from '../../../ports/options.ts';
import { isWebToolError, type WebTools } from '../../../ports/web.ts';

export interface MediaServices {
  readonly web: WebTools;
  readonly files: StoredFiles;
}

/** Reads the files of a user for a model, as `FilesReader`. */
interface StoredFiles {
  contents(
    userId: string,
    ids: readonly string[],
    model: ModelInfo,
    options?: CallOptions,
  ): AsyncIterable<{ readonly content: readonly ModelContent[] | undefined; readonly refusal?: string }>;
}

/** Loads the images and files of a conversation. Each method throws an ApiError 400 that names the path. */
export interface MediaLoader {
  /** @param url a data URL, or an https URL that is fetched. */
  image(url: string, path: string): Promise<ModelContent>;
  /** @param url an https URL that is fetched. */
  document(url: string, name: string, path: string): Promise<ModelContent>;
  /** @param id of a stored file. */
  stored(id: string, path: string): Promise<readonly ModelContent[]>;
}

export interface MediaLoaderOptions {
  readonly userId: string;
  /** The signal of the client. */
  readonly signal: AbortSignal;
  /** Creates the error about a field. */
  readonly issue: FieldIssue;
}

/** The body has the same limit. */
const MAX_FETCHED_BYTES = 25 * 2 ** 20;
const MAX_FETCHED = 20;
const MAX_FILES = 50;
export const IMAGE_TYPES: readonly string[] = ['image/png', 'image/jpeg', 'image/webp', 'image/gif'];

export function createMediaLoader(
  { web, files }: MediaServices,
  { info }: CatalogueEntry,
  { userId, signal, issue }: MediaLoaderOptions,
): MediaLoader {
  let fetched = 0;
  let bytesLeft = MAX_FETCHED_BYTES;
  let read = 0;

  const fetchMedia = async (url: string, accept: readonly string[], path: string) => {
    if (!/^https:\/\//i.test(url)) throw issue(path, 'expected an https URL or data in base64');
    if (web.fetchFile === undefined) throw issue(path, 'this server cannot fetch URLs; send the data');
    fetched += 1;
    if (fetched > MAX_FETCHED) throw issue(path, `expected at most ${MAX_FETCHED} URLs`);
    if (bytesLeft <= 0) throw issue(path, `the files together are larger than ${MAX_FETCHED_BYTES} bytes`);
    try {
      const { mediaType, data } = await web.fetchFile(url, { accept, maxBytes: bytesLeft }, { signal });
      bytesLeft -= data.length;
      return { mediaType: toType(mediaType), data: Buffer.from(data).toString('base64') };
    } catch (error) {
      signal.throwIfAborted();
      if (isWebToolError(error)) throw issue(path, error.message.replace(/^url: /, ''));
      throw error;
    }
  };

  return {
    async image(url, path) {
      const { mediaType, data } = /^data:/i.test(url)
        ? parseDataUrl(url, path, issue)
        : await fetchMedia(url, ['image/'], path);
      if (!IMAGE_TYPES.includes(mediaType)) {
        throw issue(path, 'expected an image of type png, jpeg, webp or gif');
      }
      return { type: 'image', mediaType, data };
    },

    async document(url, name, path) {
      return { type: 'document', name, ...(await fetchMedia(url, ['application/pdf', 'text/'], path)) };
    },

    async stored(id, path) {
      read += 1;
      if (read > MAX_FILES) throw issue(path, `expected at most ${MAX_FILES} files`);
      for await (const { content, refusal } of files.contents(userId, [id], info, { signal })) {
        if (content !== undefined) return content;
        if (refusal !== undefined) throw issue(path, refusal);
      }
      throw issue(path, 'no file that you and this model can read has this id');
    },
  };
}

function toType(mediaType: string): string {
  return mediaType.split(';', 1)[0]?.trim().toLowerCase() ?? '';
}
