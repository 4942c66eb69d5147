import type { ApiError } from '@questline/core';
import { type CatalogueEntry, type FilesReader, isBase64 } from '@questline/core/internal';
import { isWebToolError, type ModelContent, type WebTools } from '@questline/core/ports';
import { issue } from '../errors.ts';

export interface MediaServices {
  readonly web: WebTools;
  readonly files: FilesReader;
}

/** Loads the images and files of a conversation. Each method throws an ApiError 400 that names the path. */
export interface MediaLoader {
  image(url: string, path: string): Promise<ModelContent>;
  file(file: InlineFile, path: string): Promise<readonly ModelContent[]>;
}

interface InlineFile {
  readonly file_data?: string | null | undefined;
  readonly file_id?: string | null | undefined;
  readonly filename?: string | null | undefined;
}

/** The body has the same limit. */
const MAX_FETCHED_BYTES = 25 * 2 ** 20;
const MAX_FETCHED = 20;
const MAX_FILES = 50;
const IMAGE_TYPES: readonly string[] = ['image/png', 'image/jpeg', 'image/webp', 'image/gif'];
const DATA_URL = /^data:([a-z0-9.+-]+\/[a-z0-9.+-]+)(?:;[a-z0-9-]+=[^;,]{0,100})?;base64,/i;

/** @param call the signal of the client, and the user whose files may be read. */
export function createMediaLoader(
  { web, files }: MediaServices,
  { info }: CatalogueEntry,
  { userId, signal }: { readonly userId: string; readonly signal: AbortSignal },
): MediaLoader {
  let fetched = 0;
  let bytesLeft = MAX_FETCHED_BYTES;
  let read = 0;

  const fetchImage = async (url: string, path: string): Promise<ModelContent> => {
    if (web.fetchFile === undefined) throw issue(path, 'this server cannot fetch URLs; send a data URL');
    fetched += 1;
    if (fetched > MAX_FETCHED) throw issue(path, `expected at most ${MAX_FETCHED} URLs of images`);
    if (bytesLeft <= 0) throw tooLarge(path);
    try {
      const { mediaType, data } = await web.fetchFile(
        url,
        { accept: ['image/'], maxBytes: bytesLeft },
        { signal },
      );
      bytesLeft -= data.length;
      return toImage(mediaType, Buffer.from(data).toString('base64'), path);
    } catch (error) {
      signal.throwIfAborted();
      if (isWebToolError(error)) throw issue(path, error.message.replace(/^url: /, ''));
      throw error;
    }
  };

  return {
    async image(url, path) {
      if (/^data:/i.test(url)) {
        const { mediaType, data } = parseDataUrl(url, path);
        return toImage(mediaType, data, path);
      }
      if (!/^https:\/\//i.test(url)) throw issue(path, 'expected an https URL or a data URL');
      return fetchImage(url, path);
    },

    async file({ file_data: inline, file_id: id, filename }, path) {
      if (inline != null) {
        const { mediaType, data } = parseDataUrl(inline, `${path}.file_data`);
        if (IMAGE_TYPES.includes(mediaType)) return [{ type: 'image', mediaType, data }];
        return [{ type: 'document', mediaType, data, name: filename ?? 'file' }];
      }
      if (id == null) throw issue(path, 'expected file_data or file_id');
      read += 1;
      if (read > MAX_FILES) throw issue(path, `expected at most ${MAX_FILES} files`);
      for await (const { content, refusal } of files.contents(userId, [id], info, { signal })) {
        if (content !== undefined) return content;
        if (refusal !== undefined) throw issue(`${path}.file_id`, refusal);
      }
      throw issue(`${path}.file_id`, 'no file that you and this model can read has this id');
    },
  };
}

function toImage(mediaType: string, data: string, path: string): ModelContent {
  const type = mediaType.split(';', 1)[0]?.trim().toLowerCase() ?? '';
  if (!IMAGE_TYPES.includes(type)) throw issue(path, 'expected an image of type png, jpeg, webp or gif');
  return { type: 'image', mediaType: type, data };
}

function parseDataUrl(url: string, path: string): { mediaType: string; data: string } {
  const [start, mediaType] = DATA_URL.exec(url.slice(0, 300)) ?? [];
  if (start === undefined || mediaType === undefined) {
    throw issue(path, 'expected a data URL: data:<media type>;base64,<data>');
  }
  const data = url.slice(start.length);
  if (!isBase64(data)) throw issue(path, 'the data of the URL is not base64');
  return { mediaType: mediaType.toLowerCase(), data };
}

function tooLarge(path: string): ApiError {
  return issue(path, `the images together are larger than ${MAX_FETCHED_BYTES} bytes`);
}
