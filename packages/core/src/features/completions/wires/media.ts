import { type FieldIssue, parseDataUrl } from '../../../contract/data-url.ts';
import type { CatalogueEntry } from '../../../models/catalogue.ts';
import type { ModelContent, ModelInfo } from '../../../ports/models.ts';
import type { CallOptions } from '../../../ports/options.ts';
import { isWebToolError, type WebTools } from '../../../ports/web.ts';

export interface MediaServices {
  readonly web: WebTools;
  readonly files: FilesForModels;
}

/** Reads the files of a user, and documents of requests, for a model, as `FilesReader`. */
interface FilesForModels {
  contents(
    userId: string,
    ids: readonly string[],
    model: ModelInfo,
    options?: CallOptions,
  ): AsyncIterable<{ readonly content: readonly ModelContent[] | undefined; readonly refusal?: string }>;
  convert(
    userId: string,
    document: SentDocument,
    model: ModelInfo,
    options?: CallOptions,
  ): Promise<{ readonly content: ModelContent } | { readonly content?: undefined; readonly refusal: string }>;
}

/** A document inside of a request. */
interface SentDocument {
  /** Type and subtype, and parameters such as the `charset` of a text. */
  readonly contentType: string;
  /** Base64. */
  readonly data: string;
  readonly name: string;
}

/** Loads the images and files of a conversation. Each method throws an ApiError 400 that names the path. */
export interface MediaLoader {
  /** @param url a data URL, or an https URL that is fetched. */
  image(url: string, path: string): Promise<ModelContent>;
  /** @param url a data URL of an image or a document. */
  inline(url: string, name: string, path: string): Promise<ModelContent>;
  /** Converts a document for the model: text to UTF-8, and a type that the model does not read to text. */
  sent(document: SentDocument, path: string): Promise<ModelContent>;
  /** @param url an https URL of a document, which is fetched. */
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
const IMAGE_TYPES: readonly string[] = ['image/png', 'image/jpeg', 'image/webp', 'image/gif'];

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
      return { contentType: mediaType, data: Buffer.from(data).toString('base64') };
    } catch (error) {
      signal.throwIfAborted();
      if (isWebToolError(error)) throw issue(path, error.message.replace(/^url: /, ''));
      throw error;
    }
  };

  const convert = async (document: SentDocument, path: string): Promise<ModelContent> => {
    const converted = await files.convert(userId, document, info, { signal });
    if (converted.content === undefined) throw issue(path, converted.refusal);
    return converted.content;
  };

  return {
    async image(url, path) {
      const { contentType, data } = /^data:/i.test(url)
        ? parseDataUrl(url, path, issue)
        : await fetchMedia(url, ['image/'], path);
      const mediaType = toType(contentType);
      if (!IMAGE_TYPES.includes(mediaType)) {
        throw issue(path, 'expected an image of type png, jpeg, webp or gif');
      }
      return { type: 'image', mediaType, data };
    },

    async inline(url, name, path) {
      const { mediaType, contentType, data } = parseDataUrl(url, path, issue);
      if (IMAGE_TYPES.includes(mediaType)) return { type: 'image', mediaType, data };
      return convert({ contentType, data, name }, path);
    },

    sent: convert,

    async document(url, name, path) {
      return convert({ ...(await fetchMedia(url, ['application/', 'text/'], path)), name }, path);
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
