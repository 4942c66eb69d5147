import { canRead, isReader } from '../../access/access.ts';
import { isId } from '../../contract/identifiers.ts';
import type { ModelContent, ModelInfo } from '../../ports/models.ts';
import type { CallOptions } from '../../ports/options.ts';
import type { Store } from '../../ports/store.ts';
import type { Incident } from '../../shared/incident.ts';
import type { DocumentReader } from './documents.ts';
import type { FileLibrary } from './library.ts';
import { FILES, type FileRecord } from './records.ts';
import { type ConvertDocument, createDocumentConverter, toTextDocument } from './sent-documents.ts';

/** The fields of a file that attaching needs. */
export interface AttachableFile {
  readonly id: string;
  readonly name: string;
  readonly mimeType: string;
  /** Moderated, and usable. */
  readonly isClean: boolean;
}

/** Reads files for models. */
export interface FilesReader {
  /** @returns undefined for a file that is unknown, or unreadable for the user. */
  find(userId: string, id: string): Promise<AttachableFile | undefined>;
  /** Returns up to 1000 files that the user may read, by id, in one store call. */
  findAll(userId: string, ids: readonly string[]): Promise<ReadonlyMap<string, AttachableFile>>;
  /** The files that their users may read, by file id, in one store call. At most 1,000. */
  findFor(
    wanted: readonly { readonly id: string; readonly userId: string }[],
  ): Promise<ReadonlyMap<string, AttachableFile>>;
  /**
   * The content of each file for the model, in the order of the ids. A file's bytes are read when it is its turn; one store
   * call serves all. `content` is undefined when the model does not support the file, it is deleted, or extraction failed.
   */
  contents(
    userId: string,
    ids: readonly string[],
    model: ModelInfo,
    options?: CallOptions,
  ): AsyncIterable<FileContent>;
  /** Converts a document inside of a request. */
  readonly convert: ConvertDocument;
}

export interface FileContent {
  readonly id: string;
  readonly content: readonly ModelContent[] | undefined;
  /** Why extraction failed: a sentence for users. */
  readonly refusal?: string;
}

/** Longer texts are cut at half of the context window, to leave space for the conversation. */
const CHARACTERS_PER_TOKEN = 2.5;
const MAX_DOCUMENT_BYTES = 32 * 2 ** 20;
const CUT = '\n\n[The rest of this file was left out: it is too long.]';
/** Every provider rejects larger images. */
const MAX_IMAGE_BYTES = 20 * 2 ** 20;
const MODEL_IMAGES: ReadonlySet<string> = new Set(['image/png', 'image/jpeg', 'image/gif', 'image/webp']);

/**
 * Reads the files of a library. Images go unchanged to models with vision; every other type as the text that one of
 * the extractors returns.
 */
export function createFilesReader(services: {
  readonly store: Store;
  readonly library: FileLibrary;
  readonly documents: DocumentReader;
  readonly onError: (incident: Incident) => void;
}): FilesReader {
  const { library, documents } = services;
  const files = services.store.collection(FILES);

  const toImage = async (file: FileRecord): Promise<ModelContent | undefined> => {
    const bytes = await library.readFound(file, MAX_IMAGE_BYTES);
    if (bytes === undefined) return undefined;
    return { type: 'image', mediaType: file.mimeType, data: Buffer.from(bytes).toString('base64') };
  };

  const readText = async (
    userId: string,
    file: FileRecord,
    { contextWindow }: ModelInfo,
    options: CallOptions,
  ): Promise<FileContent> => {
    const { id, name } = file;
    const load = (inTurn: CallOptions) => library.readFound(file, MAX_DOCUMENT_BYTES, inTurn);
    const outcome = await documents.read(file, load, { ...options, owner: userId });
    if ('cause' in outcome)
      services.onError({ operation: 'files.extract', requestId: '', error: outcome.cause });
    if (outcome.status === 'refused') {
      return { id, content: undefined, refusal: `${name} could not be read: ${outcome.reason}.` };
    }
    if (outcome.status !== 'read' || outcome.text.trim() === '') return { id, content: undefined };
    const { text } = outcome;
    const most = Math.floor((contextWindow / 2) * CHARACTERS_PER_TOKEN);
    const fitting = text.length > most ? `${text.slice(0, most).toWellFormed()}${CUT}` : text;
    return { id, content: [toTextDocument(name, fitting)] };
  };

  const readContent = async (
    userId: string,
    file: FileRecord,
    model: ModelInfo,
    options: CallOptions,
  ): Promise<FileContent> => {
    if (!MODEL_IMAGES.has(file.mimeType)) return readText(userId, file, model, options);
    const image = model.supportsVision === true ? await toImage(file) : undefined;
    return { id: file.id, content: image && [image] };
  };

  return {
    async find(userId, id) {
      const file = isId(id) ? await files.get(id, canRead(userId)) : undefined;
      return file && toAttachable(file);
    },

    async findAll(userId, ids) {
      const wanted = ids.filter(isId);
      if (wanted.length === 0) return new Map();
      const found = await files.find({ id: { in: wanted }, ...canRead(userId) });
      return new Map(found.map((file) => [file.id, toAttachable(file)]));
    },

    async findFor(wanted) {
      const userIds = new Map(wanted.map(({ id, userId }) => [id, userId]));
      const ids = [...userIds.keys()].filter(isId);
      if (ids.length === 0) return new Map();
      const found = await files.find({ id: { in: ids } });
      return new Map(
        found
          .filter((file) => isReader(file, userIds.get(file.id) ?? ''))
          .map((file) => [file.id, toAttachable(file)]),
      );
    },

    async *contents(userId, ids, model, options = {}) {
      const found = await library.getAll(userId, ids);
      for (const id of ids) {
        const file = found.get(id);
        yield file === undefined
          ? { id, content: undefined }
          : await readContent(userId, file, model, options);
      }
    },

    convert: createDocumentConverter(services),
  };
}

function toAttachable({ id, name, mimeType, status }: FileRecord): AttachableFile {
  return { id, name, mimeType, isClean: status === 'clean' };
}
