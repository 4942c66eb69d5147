import { isId } from '../http/identifiers.ts';
import type { Incident } from '../incident.ts';
import type { ModelContent, ModelInfo } from '../ports/models.ts';
import type { Store } from '../ports/store.ts';
import type { TextExtractor } from '../ports/text-extractor.ts';
import { canRead } from '../sharing/access.ts';
import type { FileLibrary } from './library.ts';
import { FILES, type FileRecord } from './records.ts';

/** A file as far as those who attach it need to know. */
export interface AttachableFile {
  readonly id: string;
  readonly name: string;
  readonly mimeType: string;
  /** Moderated, and free to use. */
  readonly isClean: boolean;
}

/** Files for models to read. */
export interface FilesReader {
  /** @returns undefined for a file that is unknown, or that the user cannot read. */
  find(userId: string, id: string): Promise<AttachableFile | undefined>;
  /** What a model is given of a file. @returns undefined when the model cannot take it, or the file is gone. */
  content(userId: string, id: string, model: ModelInfo): Promise<readonly ModelContent[] | undefined>;
}

/** Longer texts are cut at half of what the model can read at all: the conversation wants its place too. */
const CHARACTERS_PER_TOKEN = 2.5;
const MOST_DOCUMENT_BYTES = 32 * 2 ** 20;
const CUT = '\n\n[The rest of this file was left out: it is too long.]';
/** Larger images are refused by every provider there is. */
const MOST_IMAGE_BYTES = 20 * 2 ** 20;
const MODEL_IMAGES: ReadonlySet<string> = new Set(['image/png', 'image/jpeg', 'image/gif', 'image/webp']);

/**
 * Reads the files of a library. Images go to models that see, as they are; of everything else the text, as far as one of
 * the extractors reads it.
 */
export function createFilesReader(services: {
  readonly store: Store;
  readonly library: FileLibrary;
  readonly extractors: readonly TextExtractor[];
  readonly onError: (incident: Incident) => void;
}): FilesReader {
  const { library, extractors } = services;
  const files = services.store.collection(FILES);

  const imageOf = async (userId: string, { id, mimeType }: FileRecord): Promise<ModelContent | undefined> => {
    const bytes = await library.read(userId, id, MOST_IMAGE_BYTES);
    if (bytes === undefined) return undefined;
    return { type: 'image', mediaType: mimeType, data: Buffer.from(bytes).toString('base64') };
  };

  const textOf = async (
    userId: string,
    { id, name, mimeType }: FileRecord,
    { contextWindow }: ModelInfo,
  ): Promise<ModelContent | undefined> => {
    const type = { mimeType, name };
    const extractor = extractors.find((one) => one.reads(type));
    const bytes = extractor && (await library.read(userId, id, MOST_DOCUMENT_BYTES));
    if (extractor === undefined || bytes === undefined) return undefined;
    try {
      const { text } = await extractor.extract(bytes, type);
      if (text.trim() === '') return undefined;
      const most = Math.floor((contextWindow / 2) * CHARACTERS_PER_TOKEN);
      const fitting = text.length > most ? `${text.slice(0, most).toWellFormed()}${CUT}` : text;
      return {
        type: 'document',
        mediaType: 'text/plain',
        name,
        data: Buffer.from(fitting).toString('base64'),
      };
    } catch (error) {
      services.onError({ operation: 'files.extract', requestId: '', error });
      return undefined;
    }
  };

  return {
    async find(userId, id) {
      const file = isId(id) ? await files.get(id, canRead(userId)) : undefined;
      return file && { id, name: file.name, mimeType: file.mimeType, isClean: file.status === 'clean' };
    },

    async content(userId, id, model) {
      const file = await library.get(userId, id);
      if (file === undefined) return undefined;
      const content = MODEL_IMAGES.has(file.mimeType)
        ? model.supportsVision === true && (await imageOf(userId, file))
        : await textOf(userId, file, model);
      return content ? [content] : undefined;
    },
  };
}
